// Package vnf is the VNF that the suite of life-cycle drivers runs on OpenStack's Heat, of resources that need no
// other service.
package vnf

import (
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// VDU is the one VDU of the VNF.
const VDU = "VDU1"

// Flavour is the deployment flavour that has it.
func Flavour() vnfpkg.Flavour {
	return vnfpkg.Flavour{ID: "simple", VDUs: map[string]vnfpkg.VDU{VDU: {ID: VDU, Name: VDU, Max: 9}}}
}

// Manifests are a base HOT with a group of the VDU, and a resource that holds a text.
func Manifests(text string) []lifecycle.Manifest {
	return []lifecycle.Manifest{
		{Path: "BaseHOT/simple/nested/VDU1.yaml", Text: secret.NewText(`heat_template_version: 2016-10-14
parameters:
  greeting: {type: string}
resources:
  VDU1:
    type: OS::Heat::TestResource
    properties: {value: {get_param: greeting}}
`)},
		{Path: "BaseHOT/simple/top.yaml", Text: secret.NewText(`heat_template_version: 2016-10-14
parameters:
  nfv: {type: json}
resources:
  VDU1_group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: [nfv, VDU, VDU1, desired_capacity]}
      resource_def:
        type: VDU1.yaml
        properties: {greeting: hello}
  login:
    type: OS::Heat::Value
    properties: {type: string, value: "` + text + `"}
  pages:
    type: OS::Heat::RandomString
`)},
	}
}
