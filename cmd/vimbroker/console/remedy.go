package console

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
)

// commands puts into a remedy of the REST API the command for each operation it names.
var commands = strings.NewReplacer(
	"POST /vnflcm/v2/vnf_instances/{id}/terminate", `"vimbroker vnf terminate"`,
	"DELETE /v1/vims/{id}?drain=true&force=true", `"vimbroker vim delete --drain --force"`,
	"DELETE /v1/vims/{id}?drain=true", `"vimbroker vim delete --drain"`,
	"PATCH /v1/vims/{id}", `"vimbroker vim update --default"`,
	"POST /v1/vims/{id}/rotate", `"vimbroker vim rotate"`,
	"POST /v1/vims/{id}/check", `"vimbroker vim check"`,
	"POST /v1/policy:explain", `"vimbroker policy explain"`,
	"POST /v1/leases:revoke", `"vimbroker lease revoke --vim NAME"`,
	"GET /v1/vims", `"vimbroker vim list"`,
	"GET /v1/leases", `"vimbroker lease list"`,
	"repeat the change with its ETag", "repeat the change",
	"set podsHeldBy of the VIM to its name", `say so: "vimbroker vim update VIM --pods-held-by NAME"`,
	"set sharedKinds of the VIM to the kind with all its types",
	`share the kind with all its types: "vimbroker vim update VIM --shared-kinds KIND"`,
	"every one of the rules or the verb escalate",
	`every one of the rules or the verb escalate: an administrator of the cluster applies what "vimbroker vim rbac VIM --for engine" prints`,
)

// fieldFlags are the flags that fill fields of the REST API, by field; of several the
// first that a command has.
var fieldFlags = map[string][]string{
	"action":      {"action"},
	"aspectId":    {"aspect"},
	"caCert":      {"ca-cert-file"},
	"cloud":       {"cloud"},
	"cloudsYaml":  {"clouds-yaml"},
	"clusterWide": {"cluster-wide"},
	"context":     {"context"},
	"default":     {"default"},
	"description": {"description"},
	"domain":      {"cloud-domain"},
	"endpoint":    {"endpoint"},
	"extra":       {"config-file"},
	"for":         {"for"},
	"format":      {"format"},
	"grade":       {"grade"},
	"If-Match":    {"if-revision"},
	"kubeconfig":  {"kubeconfig"},
	"keyStore":    {"to"},
	"label":       {"label"},
	"labels":      {"label"},
	"lease":       {"lease"},
	"name":        {"name"},
	"namespace":   {"namespace"},
	"namespaces":  {"namespace"},
	"operation":   {"operation"},

	"numberOfSteps": {"steps"},
	"outcome":       {"outcome"},
	"overlap":       {"overlap"},
	"principal":     {"principal"},
	"project":       {"cloud-project"},
	"purpose":       {"purpose"},
	"region":        {"region"},
	"role":          {"with-role", "role"},
	"roles":         {"role"},
	"rules":         {"rule"},
	"serverName":    {"server-name"},
	"shared":        {"shared"},
	"sharedWith":    {"share-with", "with"},
	"since":         {"since"},
	"state":         {"state"},
	"status":        {"status"},
	"ttl":           {"ttl"},
	"type":          {"type"},
	"until":         {"until"},
	"vim":           {"vim"},

	"insecureSkipVerify": {"insecure-skip-verify"},

	"credential":                   {"bearer-token-file", "credential"},
	"credential.token":             {"bearer-token-file"},
	"credential.clientCertificate": {"client-cert-file"},
	"credential.clientKey":         {"client-key-file"},
	"credential.username":          {"username"},
	"credential.password":          {"password-file"},

	"credential.applicationCredentialId":     {"application-credential-id"},
	"credential.applicationCredentialSecret": {"application-credential-secret-file"},
}

// arguments are the fields that are no flag of some commands, by what their help calls them.
var arguments = map[string]string{"name": "NAME", "action": "ACTION", "vim": "VIM", "entry": "SEQ", "kind": "ACTION"}

// wholeFiles are the flags whose file has fields of its own.
var wholeFiles = []string{"config-file", "kubeconfig", "clouds-yaml"}

// InWords has a command, and all below it, name the fields of a refusal as the person
// typed them, and end with ExitUsage where its words are wrong.
func InWords(c *cobra.Command) {
	for _, inner := range c.Commands() {
		InWords(inner)
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := cmp.Or(check(c, args), c.ValidateRequiredFlags(), c.ValidateFlagGroups())
			if err == nil || errors.As(err, new(*usageError)) {
				return err
			}
			return Usage(c, err) // cobra's own words
		}
	}
	if body := c.RunE; body != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return inWords(c, body(c, args)) }
	}
}

// inWords names the fields of refusals in the words of the command c.
func inWords(c *cobra.Command, err error) error {
	var exit *exitError
	if errors.As(err, &exit) {
		exit.err = inWords(c, exit.err)
		return err
	}
	refused := refusals(err)
	if len(refused) == 0 {
		return err
	}
	text := err.Error()
	for _, problem := range refused {
		before := problem.Error()
		problem.Errors = slices.Clone(problem.Errors)
		for i := range problem.Errors {
			fault := &problem.Errors[i]
			if fault.Field == "kind" && strings.Contains(fault.Message, "to a VIM") {
				fault.Field = "vim" // which was not named
			}
			fault.Field = word(c, fault.Field)
			fault.Message = camelCase().ReplaceAllStringFunc(fault.Message, func(field string) string { return word(c, field) })
		}
		text = strings.ReplaceAll(text, before, problem.Error())
	}
	return &worded{text, err}
}

// camelCase finds names of fields in a sentence.
var camelCase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-z]+[A-Z][A-Za-z]+\b`) })

// worded is an error whose text is in the words of a command.
type worded struct {
	text string
	err  error
}

func (w *worded) Error() string { return w.text }

func (w *worded) Unwrap() error { return w.err }

// refusals are all answers of the server in an error.
func refusals(err error) (all []*client.Problem) {
	switch e := err.(type) { //nolint:errorlint // the whole tree is walked
	case nil:
	case *client.Problem:
		return []*client.Problem{e}
	case interface{ Unwrap() error }:
		return refusals(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, refusals(inner)...)
		}
	}
	return all
}

// word is the person's word for a field: the flag that fills it, or the argument. A field
// of a file that was given keeps its name.
func word(c *cobra.Command, field string) string {
	flags := c.Flags()
	inFile := slices.ContainsFunc(wholeFiles, flags.Changed)
	key := field
	if base, _, dotted := strings.Cut(field, "."); dotted && fieldFlags[field] == nil {
		key = base // labels.site, rules.0.verbs
	}
	known := fieldFlags[key]
	if known == nil {
		known = fieldFlags["credential."+key] // as the list of its parts says
	}
	for _, flag := range known {
		if flags.Lookup(flag) != nil && (flags.Changed(flag) || !inFile) {
			return "--" + flag
		}
	}
	if argument, ok := arguments[key]; ok && strings.Contains(c.Use, argument) {
		return argument
	}
	return field
}
