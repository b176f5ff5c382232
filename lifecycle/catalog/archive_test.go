package catalog_test

import (
	"archive/zip"
	"bytes"
	"testing"
)

// scripted is a package whose descriptor has code run.
func scripted(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"TOSCA-Metadata/TOSCA.meta": "TOSCA-Meta-File-Version: 1.0\nEntry-Definitions: Definitions/top.yaml\n",
		"Definitions/top.yaml": `
topology_template:
  substitution_mappings: {properties: {flavour_id: simple}}
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties: {descriptor_id: scripted}
      interfaces:
        Vnflcm:
          instantiate_start: {implementation: mgmt-driver}
`,
	} {
		e, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
