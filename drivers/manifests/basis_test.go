package manifests_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// A request names the manifests, or has all that the package holds in the usual place.
func TestBasis(t *testing.T) {
	paths := []string{"BaseHOT/simple/top.yaml", "Definitions/vnfd.yaml", "Files/kubernetes/a.yaml", "Files/kubernetes/b.yaml", "charts/Chart.yaml"}
	for name, c := range map[string]struct {
		in    lifecycle.Source
		files []string
		says  string
		kind  error
	}{
		"all": {in: lifecycle.Source{Paths: paths}, files: paths[2:4]},
		"named": {
			in:    lifecycle.Source{Paths: paths, Named: []string{"Files/kubernetes/b.yaml", "Files/kubernetes/a.yaml"}},
			files: []string{"Files/kubernetes/b.yaml", "Files/kubernetes/a.yaml"},
		},
		"nothing there":         {in: lifecycle.Source{Paths: paths[:2]}, kind: broker.ErrInvalid, says: "the package holds nothing under Files/kubernetes"},
		"Terraform":             {in: lifecycle.Source{Paths: []string{"Files/terraform/main.tf"}}, kind: broker.ErrInvalid, says: "one of Terraform (Files/terraform/main.tf)"},
		"not there":             {in: lifecycle.Source{Paths: paths, Named: []string{"c.yaml"}}, kind: broker.ErrInvalid, says: "a file that is not in the package: c.yaml"},
		"no name":               {in: lifecycle.Source{Paths: paths, Named: []string{""}}, kind: broker.ErrInvalid, says: "it has no name"},
		"a chart":               {in: lifecycle.Source{Paths: paths, Named: []string{"charts/Chart.yaml"}}, kind: broker.ErrUnsupported, says: "is of a Helm chart"},
		"a release":             {in: lifecycle.Source{Paths: paths, Release: "web"}, kind: broker.ErrInvalid, says: "additionalParams.helm_release_name"},
		"values":                {in: lifecycle.Source{Paths: paths, Parameters: true}, kind: broker.ErrInvalid, says: "made from manifests"},
		"some beside Terraform": {in: lifecycle.Source{Paths: []string{"Files/kubernetes/a.yaml", "Files/terraform/main.tf"}}, files: []string{"Files/kubernetes/a.yaml"}},
		"a bad namespace":       {in: lifecycle.Source{Paths: paths, Namespace: "kube/system"}, kind: broker.ErrInvalid, says: "additionalParams.namespace"},
	} {
		b, err := manifests.New().Basis(c.in)
		if c.kind != nil {
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %v with %q", name, err, c.kind, c.says)
			}
			continue
		}
		if err != nil || !slices.Equal(b.Files, c.files) || b.Namespace != "default" {
			t.Errorf("%s: %+v, %v, want %v in namespace default", name, b, err, c.files)
		}
	}
}
