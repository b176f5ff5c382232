package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
)

// listPage is how many items a list fetches at once.
const listPage = 500

// pollEvery is how often --wait looks again.
const pollEvery = time.Second

func (p *program) vimCommand() *cobra.Command {
	return group("vim", "Register, look at and change VIMs",
		"A VIM is a registered cluster or cloud. Its credential is sealed at the server and never shown again; leases are derived from it.",
		`  vimbroker vim register --kubeconfig ~/.kube/config --context edge edge-1
  vimbroker vim list
  vimbroker vim check edge-1`,
		p.vimRegisterCommand(),
		p.vimListCommand(),
		p.vimShowCommand(),
		p.vimUpdateCommand(),
		p.vimRotateCommand(),
		p.vimCheckCommand(),
		p.vimInventoryCommand(),
		p.vimDeleteCommand(),
	)
}

func (p *program) vimListCommand() *cobra.Command {
	var q client.VIMQuery
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the VIMs of the project, and shared ones",
		Long:    "List the VIMs that the caller may see: those of its project and shared ones.",
		Example: `  vimbroker vim list
  vimbroker vim list --label site=north --status reachable
  vimbroker vim list -o json`,
		Args: names(),
		RunE: p.remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			q.PageSize = listPage
			vims := v1.List[v1.VIM]{Items: []v1.VIM{}}
			for v, err := range broker.AllVIMs(c.Context(), q) {
				if err != nil {
					return err
				}
				vims.Items = append(vims.Items, v)
			}
			return p.print(vims, func(w io.Writer) { p.vimTable(w, vims.Items) })
		}),
	}
	flags := c.Flags()
	flags.StringVar(&q.Type, "type", "", "only this type: kubernetes or openstack")
	flags.StringVar(&q.Status, "status", "", "only this status, like reachable or unauthorized")
	flags.StringToStringVarP(&q.Labels, "label", "l", nil, "only VIMs with this label, key=value; can be repeated")
	mustComplete(c, "type", cobra.FixedCompletions([]string{"kubernetes", "openstack"}, cobra.ShellCompDirectiveNoFileComp))
	mustComplete(c, "status", cobra.FixedCompletions([]string{"unchecked", "reachable", "unreachable", "unauthorized", "identityChanged", "unopenable"}, cobra.ShellCompDirectiveNoFileComp))
	p.outputFlag(c)
	return c
}

func (p *program) vimTable(w io.Writer, vims []v1.VIM) {
	row(w, "NAME", "TYPE", "STATUS", "ENDPOINT", "PROJECT", "DEFAULT", "SHARED", "CREDENTIAL", "CHECKED")
	for _, v := range vims {
		credential := v.Credential.Kind
		if !v.Credential.ExpiresAt.IsZero() {
			credential += ", expires " + p.when(v.Credential.ExpiresAt)
		}
		row(w, v.Name, v.Type, v.Status, v.Endpoint, v.Project, yes(v.Default), yes(v.Shared), credential, p.when(v.CheckedAt))
	}
}

func (p *program) vimShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "show VIM",
		Short:   "Show one VIM",
		Long:    "Show what is known of one VIM, given by name or id. The credential is never part of it.",
		Example: "  vimbroker vim show edge-1\n  vimbroker vim show edge-1 -o json",
		Args:    names("VIM (a name or id)"), ValidArgsFunction: onlyFirst(p.vimNames),
		RunE: p.remote(func(c *cobra.Command, args []string, broker *client.Client) error {
			v, err := broker.VIM(c.Context(), args[0])
			if err != nil {
				return err
			}
			return p.printVIM(v)
		}),
	}
	p.outputFlag(c)
	return c
}

// printVIM prints one VIM, and on stderr what deserves attention.
func (p *program) printVIM(v v1.VIM) error {
	return p.print(v, func(w io.Writer) {
		fact(w, "Name", v.Name)
		fact(w, "Id", v.ID)
		fact(w, "Type", v.Type)
		fact(w, "Status", v.Status)
		fact(w, "Message", v.Message)
		fact(w, "Warnings", list(v.Warnings))
		fact(w, "Endpoint", v.Endpoint)
		fact(w, "Server verified", verified(v))
		fact(w, "Namespace", v.Namespace)
		p.cloudFacts(w, v)
		fact(w, "Version", v.Version)
		fact(w, "Identity", v.Identity)
		fact(w, "Can mint leases", minting(v))
		fact(w, "Project", v.Project)
		fact(w, "Default", yes(v.Default))
		fact(w, "Shared", yes(v.Shared))
		fact(w, "Labels", pairs(v.Labels))
		fact(w, "Description", v.Description)
		fact(w, "Extra", string(v.Extra))
		fact(w, "Credential", v.Credential.Kind)
		fact(w, "Credential expires", p.moment(v.Credential.ExpiresAt))
		fact(w, "Key store", v.Credential.KeyStore)
		fact(w, "Generation", strconv.FormatInt(v.Generation, 10))
		fact(w, "Revision", strconv.FormatInt(v.Revision, 10))
		fact(w, "Checked", p.moment(v.CheckedAt))
		fact(w, "Registered", p.moment(v.CreatedAt)+" by "+v.CreatedBy)
		fact(w, "Updated", p.moment(v.UpdatedAt))
	})
}

// cloudFacts prints what only an OpenStack VIM has.
func (p *program) cloudFacts(w io.Writer, v v1.VIM) {
	if v.Scope != nil {
		fact(w, "Region", v.Scope.Region)
	}
	text := func(key string) string { s, _ := v.Discovered[key].(string); return s }
	texts := func(key string) string {
		var all []string
		items, _ := v.Discovered[key].([]any)
		for _, item := range items {
			if s, ok := item.(string); ok {
				all = append(all, s)
			}
		}
		return list(all)
	}
	if project := text("projectName"); project != "" {
		fact(w, "Cloud project", project+" ("+text("projectId")+"), domain "+text("projectDomainName"))
	}
	fact(w, "Regions", texts("regions"))
	fact(w, "Roles", texts("roles"))
	fact(w, "A lease is a", text("leases"))
	if text("leases") != "" {
		fact(w, "A lease for Heat is a", forHeat(v))
	}
}

// forHeat says what a lease is whose purpose is Heat, which makes trusts.
func forHeat(v v1.VIM) string {
	trusts, _ := v.Discovered["trustsByApplicationCredential"].(bool)
	switch {
	case trusts:
		leases, _ := v.Discovered["leases"].(string)
		return leases
	case v.Credential.Kind == "applicationCredential":
		return "no: this cloud's Heat takes none; register the VIM with user name and password"
	}
	return "projectToken"
}

// verified says how the server's certificate is checked.
func verified(v v1.VIM) string {
	switch {
	case strings.HasPrefix(v.Endpoint, "http://"):
		return "NO (plain http): anyone on the way can read what is sent"
	case v.InsecureSkipVerify:
		return "NO (insecureSkipVerify): anyone on the way can read what is sent"
	case v.CACert != "":
		return "by its own CA" + named(v.ServerName)
	}
	return "by the system's roots" + named(v.ServerName)
}

// named tells a name that is checked instead of the endpoint's host.
func named(server string) string {
	if server == "" {
		return ""
	}
	return ", as " + server
}

func minting(v v1.VIM) string {
	if v.CanMint {
		return "yes"
	}
	if v.MintMessage == "" {
		return "no"
	}
	return "no: " + v.MintMessage
}

func (p *program) vimCheckCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check VIM",
		Short: "Check endpoint and credential now",
		Long: `Ask the VIM now whether it answers, who it is, and whether it knows the
credential. Fails (exit code 1) unless the VIM is found reachable.`,
		Example: "  vimbroker vim check edge-1",
		Args:    names("VIM (a name or id)"), ValidArgsFunction: onlyFirst(p.vimNames),
		RunE: p.remote(func(c *cobra.Command, args []string, broker *client.Client) error {
			v, err := broker.CheckVIM(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := p.printVIM(v); err != nil {
				return err
			}
			if v.Status != "reachable" {
				return fmt.Errorf("%s is %s: %s", v.Name, v.Status, v.Message)
			}
			return nil
		}),
	}
	p.outputFlag(c)
	return c
}

func (p *program) vimDeleteCommand() *cobra.Command {
	var d client.Deletion
	var wait bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "delete VIM",
		Short: "Delete a VIM and destroy its credential's key",
		Long: `Delete a VIM. While leases on it live this is refused, unless --drain revokes
them first: then the VIM goes when the last of them has ended.`,
		Example: "  vimbroker vim delete edge-1\n  vimbroker vim delete edge-1 --drain --wait",
		Args:    names("VIM (a name or id)"), ValidArgsFunction: onlyFirst(p.vimNames),
		RunE: p.remote(func(c *cobra.Command, args []string, broker *client.Client) error {
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			v, gone, err := broker.DeleteVIM(ctx, args[0], d)
			switch {
			case err != nil:
				return err
			case gone:
				p.warn("%s is deleted", args[0])
				return nil
			case !wait:
				p.warn("%s is draining and goes when its last lease has ended; see: vimbroker lease list --vim %s", args[0], v.ID)
				return nil
			}
			return p.awaitGone(ctx, broker, args[0], v.ID)
		}),
	}
	flags := c.Flags()
	flags.BoolVar(&d.Drain, "drain", false, "revoke the leases on it first")
	flags.BoolVar(&d.Force, "force", false, "with --drain: do not wait for leases that cannot be revoked; their credentials work until they expire")
	flags.Int64Var(&d.IfRevision, "if-revision", 0, "refuse unless this is the VIM's revision")
	flags.BoolVar(&wait, "wait", false, "return when the VIM is gone")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "how long --wait waits")
	return c
}

// awaitGone polls until a draining VIM is gone.
func (p *program) awaitGone(ctx context.Context, broker *client.Client, name, id string) error {
	err := poll(ctx, func() (bool, error) {
		_, err := broker.VIM(ctx, id)
		if client.Status(err) == http.StatusNotFound {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting until %s is gone: %w; see: vimbroker lease list --vim %[3]s; where the VIM cannot be asked any more: vimbroker vim delete %[3]s --drain --force", name, err, id)
	}
	p.warn("%s is deleted", name)
	return nil
}

// poll asks again and again until it is so, or until the context ends.
func poll(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if so, err := done(); so || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
