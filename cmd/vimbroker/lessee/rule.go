package lessee

import (
	"errors"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api/v1"
)

// ruleForm is the form of a rule. The part behind the slash is a name, as with
// kubectl, so a subresource, which Kubernetes writes pods/log, has a colon.
const ruleForm = "VERBS:RESOURCE[:SUB][.GROUP][/NAME]"

// ruleList is the value of a flag that names rules.
type ruleList []v1.Rule

// Set implements pflag.Value: it adds a rule.
func (l *ruleList) Set(text string) error {
	verbs, what, ok := strings.Cut(text, ":")
	what, name, named := strings.Cut(what, "/")
	what, group, grouped := strings.Cut(what, ".")
	resource, subresource, deeper := strings.Cut(what, ":")
	if !ok || verbs == "" || resource == "" || named && name == "" || grouped && group == "" ||
		deeper && subresource == "" || strings.Contains(subresource, ":") {
		return errors.New("must be " + ruleForm + ", like get,list:deployments.apps/web or get:pods:log")
	}
	if deeper {
		resource += "/" + subresource
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
				resource = strings.Replace(resource, "/", ":", 1)
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
