package server

import (
	"fmt"
	"maps"
	"path/filepath"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// targetFields is the vocabulary of a target.
func targetFields(t *broker.PushTarget, d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"name":      d.Text(&t.Name),
		"vim":       d.Text(&t.VIM),
		"project":   d.Text(&t.Project),
		"namespace": d.Text(&t.Namespace),
		"form": text(d, "kubeconfig or argocd", func(s string) bool {
			t.Form = broker.PushForm(s)
			return t.Form == broker.FormKubeconfig || t.Form == broker.FormArgoCD
		}),
		"command": d.Text(&t.Plugin.Command),
		"env":     files.Words(d, &t.Plugin.Env),
	}
}

// validateTargets notes what is no target: one without a place, or whose plugin could not run or log in there.
func (c *config) validateTargets(d *strictyaml.Document) {
	seen := map[string]bool{}
	for i, t := range c.PushTargets {
		at := fmt.Sprintf("pushTargets[%d]", i)
		for _, part := range []struct {
			field, value string
			wrong        bool
			must         string
		}{
			{"name", t.Name, t.Name == "" || seen[t.Name], "must be a name that no other target has"},
			{"vim", t.VIM, t.VIM == "", "must be the name of a VIM"},
			{"project", t.Project, t.Project == "", "must be the project of the VIM"},
			{"namespace", t.Namespace, t.Namespace == "", "must be a namespace of the VIM"},
			{"form", string(t.Form), t.Form == "", "must be kubeconfig or argocd"},
			{"command", t.Plugin.Command, !filepath.IsAbs(t.Plugin.Command), "must be the path of vimbroker where the plugin runs"},
			{"env", "", !logsIn(t.Plugin.Env), "must name VIMBROKER_ADDR (https), and VIMBROKER_CLIENT_SECRET_FILE or VIMBROKER_CLIENT_CERT_FILE"},
		} {
			if part.wrong {
				d.Fault(nil, at+"."+part.field, "%s", part.must)
			}
		}
		seen[t.Name] = true
	}
}

// logsIn reports whether a plugin with this environment reaches the server, and can log in.
func logsIn(env map[string]string) bool {
	return https(env["VIMBROKER_ADDR"]) && (env["VIMBROKER_CLIENT_SECRET_FILE"] == "") != (env["VIMBROKER_CLIENT_CERT_FILE"] == "") &&
		env["VIMBROKER_TOKEN"] == ""
}

// targets are those of the configuration by their names.
func (c *config) pushTargets() map[string]broker.PushTarget {
	all := map[string]broker.PushTarget{}
	for _, t := range c.PushTargets {
		t.Plugin.Env = maps.Clone(t.Plugin.Env)
		t.Plugin.InstallHint = "This kubeconfig gets its credential from vimbroker, which is not at the place that its target names."
		all[t.Name] = t
	}
	return all
}
