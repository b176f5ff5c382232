package lessee

import (
	"errors"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api/v1"
)

// ruleList is the value of a flag that names rules.
type ruleList []v1.Rule

// Set implements pflag.Value: it adds a rule.
func (l *ruleList) Set(text string) error {
	verbs, what, ok := strings.Cut(text, ":")
	what, name, named := strings.Cut(what, "/")
	// A subresource stands in the resource: pods/log, deployments/scale.apps.
	resource, group, _ := strings.Cut(what, ".")
	if !ok || verbs == "" || resource == "" || named && name == "" {
		return errors.New("must be VERBS:RESOURCE[.GROUP][/NAME], like get,list:deployments.apps/web")
	}
	r := v1.Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: strings.Split(verbs, ",")}
	if named {
		r.ResourceNames = []string{name}
	}
	*l = append(*l, r)
	return nil
}

func (l *ruleList) String() string { return RulesText(*l) }

// Type names the value in a command's help.
func (*ruleList) Type() string { return "rule" }

// RulesText writes rules as the flag --rule takes them.
func RulesText(rules []v1.Rule) string {
	var all []string
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				if group != "" {
					resource += "." + group
				}
				for _, name := range orAll(r.ResourceNames) {
					all = append(all, strings.Join(r.Verbs, ",")+":"+resource+name)
				}
			}
		}
	}
	return strings.Join(all, " ")
}

func orAll(names []string) []string {
	if len(names) == 0 {
		return []string{""}
	}
	slashed := make([]string, len(names))
	for i, n := range names {
		slashed[i] = "/" + n
	}
	return slashed
}
