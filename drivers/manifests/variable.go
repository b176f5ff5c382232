package manifests

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// variables are the values that replace ${NAME} in the values of a manifest, as in
// Flux and clusterctl: ${NAME:=default} has a default, and $${NAME} stands for
// ${NAME} itself. A variable's value is never read as YAML.
type variables map[string]string

// variablesOf are those of the request and the driver's own.
func variablesOf(in lifecycle.PlanInput) variables {
	v := variables{}
	maps.Copy(v, in.Variables)
	v["VNF_INSTANCE_ID"], v["VNF_INSTANCE_NAME"], v["VNF_NAMESPACE"] = in.Instance, in.Name, in.Namespace
	return v
}

var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]{0,127})(:=[^}]*)?\}`)
})

// fill substitutes the variables of a text once: what they stand for is not looked at
// again. Its error names a variable that is not set, and no value.
func (v variables) fill(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var unset string
	filled := reference().ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		m := reference().FindStringSubmatch(found)
		if value, ok := v[m[1]]; ok {
			return value
		}
		if m[2] == "" && unset == "" {
			unset = m[1]
		}
		return strings.TrimPrefix(m[2], ":=")
	})
	if unset != "" {
		return "", fmt.Errorf("variable %s is not set; give it a value, or write $${%s} where it is none", unset, unset)
	}
	return filled, nil
}
