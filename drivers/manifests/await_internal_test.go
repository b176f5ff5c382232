package manifests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// An error names five of the objects that are waited for, and says whether there are others.
func TestWhatIsWaitedForIsNamed(t *testing.T) {
	var open []*waiting
	for n := range 6 {
		if n > 0 {
			err := (&run{}).unready(t.Context(), open, nil)
			if strings.Contains(err.Error(), "others") || strings.Count(err.Error(), "is slow") != n {
				t.Errorf("of %d objects: %v", n, err)
			}
		}
		o := lifecycle.Object{Resource: lifecycle.Resource{Kind: "Job", Name: fmt.Sprint("a", n)}}
		open = append(open, &waiting{Object: o, is: lifecycle.Observation{Message: "is slow"}})
	}
	err := (&run{}).unready(t.Context(), open, nil)
	if !strings.HasSuffix(err.Error(), "; and others") || strings.Count(err.Error(), "is slow") != 5 {
		t.Errorf("of six objects: %v", err)
	}
}

// A Secret is read without its values, and without the text that they stand in; another object keeps its text.
func TestASecretIsReadWithoutItsValues(t *testing.T) {
	const values = `"metadata":{"name":"n","uid":"u"},"data":{"password":"Y2FuYXJ5"},"binaryData":{"key":"Y2FuYXJ5"},"spec":{"replicas":1}}`
	for kind, hidden := range map[string]bool{"Secret": true, "ConfigMap": true, "Deployment": false} {
		var o found
		text := `{"kind":"` + kind + `",` + values
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		whole, err := json.Marshal(o.whole)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(whole), "Y2FuYXJ5") == hidden || !strings.Contains(string(whole), "replicas") {
			t.Errorf("a %s is shown as %s", kind, whole)
		}
		if wants := map[bool]string{false: text}[kind == "Secret"]; string(o.text) != wants {
			t.Errorf("of a %s the text %q is kept, want %q", kind, o.text, wants)
		}
	}
}
