package csar

import "strings"

// TackerHeatVNFD is the id of the descriptor of [TackerHeat].
const TackerHeatVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40002"

// TackerHeat is a package as users of OpenStack Tacker write them for VNFs that need no user data of their own: a base
// HOT for flavour simple, whose parameter nfv Tacker's default user data fills in, with a scaling group of a nested
// template. In place of servers and ports it has resources that need nothing but Heat.
//
// VDU1 has 1 to 3 instances, by aspect VDU1_scale. The request gives network net0 of VDU1_CP1.
func TackerHeat() Files {
	return Files{
		"Definitions/etsi_nfv_sol001_common_types.yaml": tackerHead + "data_types:\n  tosca.datatypes.nfv.L2AddressData:\n    derived_from: tosca.datatypes.Root\n",
		"Definitions/etsi_nfv_sol001_vnfd_types.yaml":   tackerHead + tackerETSI,
		"Definitions/sample_top.vnfd.yaml":              tackerHead + tackerHeatTop,
		"Definitions/sample_df_simple.yaml":             tackerHead + tackerHeatSimple,
		"BaseHOT/simple/sample.yaml":                    tackerHeatTemplate,
		"BaseHOT/simple/nested/VDU1.yaml":               tackerHeatNested,
	}
}

// TackerHeatAs is [TackerHeat] with another id of its descriptor, and with texts replaced, old and new in turn.
func TackerHeatAs(vnfd string, change ...string) Files {
	all, changes := Files{}, strings.NewReplacer(append([]string{TackerHeatVNFD, vnfd}, change...)...)
	for name, text := range TackerHeat() {
		all[name] = changes.Replace(text)
	}
	return all
}

// TackerHeatOwn is [TackerHeat] with another id of its descriptor, and with a virtual link innerVL of the descriptor, which the
// template takes: an instance makes it for itself.
func TackerHeatOwn(vnfd string) Files {
	return TackerHeatAs(vnfd,
		"    VDU1:\n      type: tosca.nodes.nfv.Vdu.Compute\n", `    innerVL:
      type: tosca.nodes.nfv.VnfVirtualLink
      properties:
        vl_profile: {virtual_link_protocol_data: [{associated_layer_protocol: ipv4, l3_protocol_data: {ip_version: ipv4, cidr: 10.66.0.0/24}}]}
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
`,
		"    type: OS::Heat::RandomString\n", `    type: OS::Heat::RandomString
  inner:
    type: OS::Heat::TestResource
    properties: {value: { get_param: [ nfv, VL, innerVL, network ] }}
`)
}

const tackerHeatTop = `
imports:
  - etsi_nfv_sol001_common_types.yaml
  - etsi_nfv_sol001_vnfd_types.yaml
  - sample_df_simple.yaml
topology_template:
  inputs:
    selected_flavour: {type: string}
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties:
        flavour_id: { get_input: selected_flavour }
        descriptor_id: ` + TackerHeatVNFD + `
        provider: Operator
        product_name: Edge router
        software_version: '1.0'
        descriptor_version: '1.0'
        vnfm_info:
          - Tacker
`

const tackerHeatSimple = `
imports:
  - etsi_nfv_sol001_common_types.yaml
  - etsi_nfv_sol001_vnfd_types.yaml
topology_template:
  substitution_mappings:
    node_type: tosca.nodes.nfv.VNF
    properties:
      flavour_id: simple
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties:
        flavour_description: A router
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: VDU1
        vdu_profile:
          min_number_of_instances: 1
          max_number_of_instances: 3
      capabilities:
        virtual_compute:
          properties:
            requested_additional_capabilities:
              properties:
                requested_additional_capability_name: m1.tiny
                support_mandatory: true
      requirements:
        - virtual_storage: VDU1-VirtualStorage
    VDU1-VirtualStorage:
      type: tosca.nodes.nfv.Vdu.VirtualBlockStorage
      properties:
        sw_image_data:
          name: cirros-0.5.2-x86_64-disk
          version: '0.5.2'
  policies:
    - scaling_aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            VDU1_scale:
              name: VDU1_scale
              description: VDU1 scaling aspect
              max_scale_level: 2
              step_deltas: [ delta_1 ]
    - VDU1_initial_delta:
        type: tosca.policies.nfv.VduInitialDelta
        properties: {initial_delta: {number_of_instances: 1}}
        targets: [ VDU1 ]
    - VDU1_scaling_aspect_deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties:
          aspect: VDU1_scale
          deltas: {delta_1: {number_of_instances: 1}}
        targets: [ VDU1 ]
    - instantiation_levels:
        type: tosca.policies.nfv.InstantiationLevels
        properties:
          levels:
            level_1: {description: smallest, scale_info: {VDU1_scale: {scale_level: 0}}}
            level_2: {description: largest, scale_info: {VDU1_scale: {scale_level: 2}}}
          default_level: level_1
    - VDU1_instantiation_levels:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties:
          levels: {level_1: {number_of_instances: 1}, level_2: {number_of_instances: 3}}
        targets: [ VDU1 ]
`

const tackerHeatTemplate = `heat_template_version: 2013-05-23
description: 'Simple Base HOT for Sample VNF'

parameters:
  nfv:
    type: json

resources:
  VDU1_scale_group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      desired_capacity: { get_param: [ nfv, VDU, VDU1, desired_capacity ] }
      resource:
        type: VDU1.yaml
        properties:
          flavor: { get_param: [ nfv, VDU, VDU1, computeFlavourId ] }
          image: { get_param: [ nfv, VDU, VDU1-VirtualStorage, vcImageId ] }
          net: { get_param: [ nfv, CP, VDU1_CP1, network ] }
  affinity:
    type: OS::Heat::RandomString

outputs: {}
`

const tackerHeatNested = `heat_template_version: 2013-05-23
description: 'VDU1 HOT for Sample VNF'

parameters:
  flavor: {type: string}
  image: {type: string}
  net: {type: string}

resources:
  VDU1:
    type: OS::Heat::TestResource
    properties:
      value: { list_join: [ '/', [ { get_param: flavor }, { get_param: image }, { get_resource: VDU1_CP1 } ] ] }
  VDU1_CP1:
    type: OS::Heat::TestResource
    properties: {value: {get_param: net}}
`
