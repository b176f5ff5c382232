package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy"
)

func (p *program) policyTestCommand() *cobra.Command {
	var t jwtTest
	c := &cobra.Command{
		Use:   "test FILE [DIR] | --jwt FILE",
		Short: "Try policies on questions whose answers are known",
		Long: `Ask the policies in DIR, with the built-in ones, the questions in FILE, and
compare the answers with those that FILE wants. The exit code is 1 if one
differs. Nothing is sent to the server. FILE is YAML:

  tests:
    - name: a member leases no cluster-admin
      principal: {name: alice, project: acme, roles: [member]}
      action: lease:issue
      vim:
        {project: acme, name: edge-1, type: kubernetes, labels: {stage: prod}}
      wish: {ttl: 1h, role: cluster-admin, grade: unbounded}
      want: denied                # or allowed
      by: [site.no-cluster-admin]   # optional: the policies that must decide

In place of vim stands lease: {project, owner, vimProject, vimName, vimType}
or project: NAME, which is the principal's if none is there. vim has shared
and sharedWith besides. wish has namespaces, purpose, clusterWide, resources,
verbs, for and age (how long ago the lease was issued, of a renewal) besides.
at: 2026-11-29T10:00:00+01:00 is when the question is asked, in the zone of the
site; without it that is now. Where a VIM is written, draft has what it would
be: name, type, endpointHost, plainHTTP, insecureSkipVerify, serverName,
keyStore, default, shared, sharedWith, labels, and what it was: sharedBefore,
sharedWithBefore, labelsBefore.

With --jwt the server tries a token against its table of trust: which entry and
rule it matches and who its bearer is, or why it is refused. With --vim or
--action it then says what policies decide about that caller. It shows the
token nowhere, and one that is taken once is as good as before. That is for
administrators.`,
		Example: `  vimbroker policy test policies_test.yaml /etc/vimbroker/policies
  vimbroker policy test --jwt job.jwt --vim edge-1`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case t.file != "" && len(args) > 0, t.file == "" && t.vim+t.action != "":
				return console.Usagef(c, "give --jwt, with --vim and --action if need be, or FILE and DIR")
			case t.file != "" || len(args) == 2:
				return nil
			}
			return console.Names("FILE")(c, args)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveDefault // any file
			}
			return console.OnlyFirst(console.Directories)(c, args[1:], typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if t.file != "" {
				return p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error { return t.run(p, c, registry) })(c, args)
			}
			policies, err := files.SitePolicies(strings.Join(args[1:], ""))
			if err != nil {
				return err
			}
			cases, err := readPolicyTests(args[0], policies)
			if err != nil {
				return err
			}
			failed := 0
			var text strings.Builder
			for _, c := range cases {
				if wrong := c.try(policies); wrong != "" {
					failed++
					fmt.Fprintf(&text, "%s:%d: %s: %s\n", args[0], c.line, c.name, wrong)
				}
			}
			_, err = fmt.Fprintf(p.Out, "%s%d of %s passed\n", &text, len(cases)-failed, console.Count(len(cases), "test", "tests"))
			if failed > 0 {
				return console.ExitWith(console.ExitFailed, err)
			}
			return err
		},
	}
	c.Flags().StringVar(&t.file, "jwt", "", "try the token in this file; - reads standard input")
	c.Flags().StringVar(&t.vim, "vim", "", "with --jwt: ask policies about this VIM (name or id)")
	c.Flags().StringVar(&t.action, "action", "", "with --jwt: ask policies about this action (default lease:issue)")
	console.MustComplete(c, "vim", p.VimNames)
	console.MustChoose(c, "action", actions...)
	p.OutputFlag(c)
	return c
}

// policyTest is one question and the answer that is wanted.
type policyTest struct {
	name     string
	line     int
	question policy.Request
	want     string
	by       []string
}

// try returns the fault of the answer, or empty.
func (c policyTest) try(policies *policy.Policies) string {
	d := policies.Decide(c.question)
	got := "denied"
	if d.Allowed {
		got = "allowed"
	}
	reason := "no policy permits it"
	switch {
	case len(d.Errors) > 0:
		reason = strings.Join(d.Errors, "; ")
	case len(d.Policies) > 0:
		reason = "by " + console.List(d.Policies)
	}
	slices.Sort(d.Policies)
	slices.Sort(c.by)
	switch {
	case got != c.want, len(d.Errors) > 0:
		return fmt.Sprintf("is %s (%s), want %s", got, reason, c.want)
	case len(c.by) > 0 && !slices.Equal(c.by, d.Policies):
		return fmt.Sprintf("is %s %s, want by %s", got, reason, console.List(c.by))
	}
	return ""
}

// readPolicyTests reads a file of tests, and refuses questions that mean nothing to the policies.
func readPolicyTests(name string, policies *policy.Policies) ([]policyTest, error) {
	text, err := files.ReadNamed(name)
	if err != nil {
		return nil, err
	}
	d := &strictyaml.Document{Name: name}
	var cases []policyTest
	root := d.Parse(text)
	if root == nil {
		return nil, d.Err()
	}
	d.Mapping(root, "", strictyaml.Fields{"tests": func(n *yaml.Node, at string) {
		d.List(n, at, func(item *yaml.Node, path string) {
			c := policyTest{line: item.Line}
			before := len(d.Faults)
			c.read(d, item, path)
			if err := policies.Check(c.question); err != nil && len(d.Faults) == before {
				d.Fault(item, path, "%v", err)
			}
			cases = append(cases, c)
		})
	}})
	if len(cases) == 0 && d.Err() == nil {
		return nil, fmt.Errorf("%s: holds no tests", name)
	}
	return cases, d.Err()
}

func (c *policyTest) read(d *strictyaml.Document, n *yaml.Node, at string) {
	q := &c.question
	var action, project string
	var age time.Duration
	about := func(kind policy.Kind, fields strictyaml.Fields) strictyaml.ReadValue {
		return func(n *yaml.Node, at string) {
			if q.Resource.Kind != "" {
				d.Fault(n, at, "is one thing too many: a question is about a vim, a lease, a package or a project")
			}
			q.Resource.Kind = kind
			d.Mapping(n, at, fields)
		}
	}
	d.Mapping(n, at, strictyaml.Fields{
		"name": d.Text(&c.name),
		"principal": d.Section(strictyaml.Fields{
			"name": d.Text(&q.Principal.Name), "project": d.Text(&q.Principal.Project), "roles": d.Texts(&q.Principal.Roles),
		}),
		"action":  d.Text(&action),
		"project": d.Text(&project),
		"vim": about(policy.KindVIM, strictyaml.Fields{
			"project": d.Text(&q.Resource.Project), "name": d.Text(&q.Resource.VIMName), "type": d.Text(&q.Resource.VIMType),
			"shared": d.Flag(&q.Resource.Shared), "sharedWith": d.Texts(&q.Resource.SharedWith), "labels": files.Words(d, &q.Resource.Labels),
		}),
		"lease": about(policy.KindLease, strictyaml.Fields{
			"project": d.Text(&q.Resource.Project), "owner": d.Text(&q.Resource.Owner), "vimProject": d.Text(&q.Resource.VIMProject),
			"vimName": d.Text(&q.Resource.VIMName), "vimType": d.Text(&q.Resource.VIMType),
		}),
		"package": about(policy.KindPackage, strictyaml.Fields{
			"project": d.Text(&q.Resource.Project), "provider": d.Text(&q.Resource.Provider), "product": d.Text(&q.Resource.Product),
			"version": d.Text(&q.Resource.Version), "labels": files.Words(d, &q.Resource.Labels),
		}),
		"subscription": about(policy.KindSubscription, strictyaml.Fields{
			"project": d.Text(&q.Resource.Project), "owner": d.Text(&q.Resource.Owner),
		}),
		"client": about(policy.KindClient, strictyaml.Fields{
			"project": d.Text(&q.Resource.Project), "name": d.Text(&q.Resource.Name), "roles": d.Texts(&q.Resource.Roles),
		}),
		"grant": about(policy.KindGrant, strictyaml.Fields{
			"project": d.Text(&q.Resource.Project), "owner": d.Text(&q.Resource.Owner), "vnfdId": d.Text(&q.Resource.VNFDID),
			"instance": d.Text(&q.Resource.Name),
		}),
		"wish": d.Section(strictyaml.Fields{
			"ttl": d.Duration(&q.Wish.TTL), "role": d.Text(&q.Wish.Role), "namespaces": d.Texts(&q.Wish.Namespaces),
			"purpose": d.Text(&q.Wish.Purpose), "grade": d.Text(&q.Wish.Grade), "clusterWide": d.Flag(&q.Wish.ClusterWide),
			"for": d.Text(&q.Wish.For), "age": d.Duration(&age),
			"resources": d.Texts(&q.Wish.Rules.Resources), "verbs": d.Texts(&q.Wish.Rules.Verbs),
		}),
		"draft": func(n *yaml.Node, at string) {
			v := new(policy.VIMDraft)
			q.Wish.VIM = v
			d.Mapping(n, at, strictyaml.Fields{
				"name": d.Text(&v.Name), "type": d.Text(&v.Type), "endpointHost": d.Text(&v.EndpointHost), "plainHTTP": d.Flag(&v.PlainHTTP),
				"insecureSkipVerify": d.Flag(&v.InsecureSkipVerify), "serverName": d.Text(&v.ServerName), "keyStore": d.Text(&v.KeyStore),
				"default": d.Flag(&v.Default), "shared": d.Flag(&v.Shared), "sharedWith": d.Texts(&v.SharedWith), "labels": files.Words(d, &v.Labels),
				"sharedBefore": d.Flag(&v.SharedBefore), "sharedWithBefore": d.Texts(&v.SharedWithBefore),
				"vouches": d.Flag(&v.Vouches), "labelsBefore": files.Words(d, &v.LabelsBefore),
			})
		},
		"at":   files.Moment(d, &q.At, "2026-11-29T10:00:00+01:00"),
		"want": d.Text(&c.want),
		"by":   d.Texts(&c.by),
	})
	if q.At.IsZero() {
		q.At = time.Now()
	}
	if age > 0 {
		q.Wish.Issued = q.At.Add(-age)
	}
	q.Action = policy.Action(action)
	if q.Resource.Kind == "" {
		q.Resource = policy.Resource{Kind: policy.KindProject, Project: project}
	}
	if q.Resource.Project == "" {
		q.Resource.Project = q.Principal.Project
	}
	q.Resource.ID = "00000000-0000-0000-0000-000000000000"
	if q.Resource.Kind == policy.KindProject {
		q.Resource.ID = q.Resource.Project
	}
	if q.Wish.TTL == 0 {
		q.Wish.TTL = time.Hour // the lifetime of a request that asks for none
	}
	if q.Wish.Grade == "" {
		q.Wish.Grade = policy.Grades[0] // the narrowest, as "policy explain" has it
	}
	if c.want != "allowed" && c.want != "denied" {
		d.Fault(n, at+".want", "must be allowed or denied")
	}
}
