package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/policy"
)

// minPrefix is the least number of characters that name an id, if they name no other.
const minPrefix = 4

// ShortID is the beginning of an id, as tables show it.
func ShortID(id string) string {
	if _, err := uuid.Parse(id); err != nil {
		return id
	}
	return id[:8]
}

// ProjectFlag lets the commands below c name VIMs of another project.
func (p *Console) ProjectFlag(c *cobra.Command) {
	c.PersistentFlags().StringVar(&p.Project, "project", "",
		"project of the VIM that is named, as in PROJECT/VIM, or of what is listed (default: your own, then shared VIMs)")
}

// VIMRef makes of a person's words what names the VIM to the server: a name, the id of a VIM of the project in
// --project or before a slash (acme/edge-1), or the id that begins so. Empty stays empty.
func (p *Console) VIMRef(ctx context.Context, registry *client.Client, ref string) (string, error) {
	project, name, slashed := strings.Cut(ref, "/")
	switch {
	case ref == "" || uuid.Validate(ref) == nil:
		return ref, nil
	case slashed:
		return VIMOfProject(ctx, registry, project, name)
	case p.Project != "":
		return VIMOfProject(ctx, registry, p.Project, ref)
	case !isPrefix(ref):
		p.vim = ref
		return ref, nil
	}
	if _, err := registry.VIM(ctx, ref); client.Status(err) != http.StatusNotFound {
		return ref, err
	}
	found, err := registry.VIMs(ctx, client.VIMQuery{IDPrefix: ref, PageSize: 2})
	if err != nil {
		return "", err
	}
	var ids []string
	for _, v := range found.Items {
		ids = append(ids, v.ID)
	}
	return only(ids, ref, "VIM")
}

// Meant adds to the answer that there is no such VIM the name of one that is most like what the person typed.
func (p *Console) Meant(ctx context.Context, registry *client.Client, err error) error {
	if p.vim == "" || client.Status(err) != http.StatusNotFound || !strings.Contains(err.Error(), "no such VIM") {
		return err
	}
	found, listErr := registry.VIMs(ctx, client.VIMQuery{PageSize: completionPage})
	var names []string
	for _, v := range found.Items {
		if v.Name == p.vim { // which the server did not find, as it is another project's
			return fmt.Errorf("%w; did you mean %s/%s?", err, v.Project, v.Name)
		}
		names = append(names, v.Name)
	}
	if near := policy.Nearest(p.vim, names); listErr == nil && near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}

// VIMOfProject finds the VIM of that name, or whose id begins so, in the project.
func VIMOfProject(ctx context.Context, registry *client.Client, project, ref string) (string, error) {
	queries := []client.VIMQuery{{Name: ref}}
	if isPrefix(ref) {
		queries = append(queries, client.VIMQuery{IDPrefix: ref})
	}
	for _, q := range queries {
		for v, err := range registry.AllVIMs(ctx, q) {
			if err != nil {
				return "", err
			}
			if v.Project == project {
				return v.ID, nil
			}
		}
	}
	return "", Missing("you see no VIM %q in project %q; see: vimbroker vim list --all-projects", ref, project)
}

// LeaseRef makes the whole id of a lease of how it begins.
func (p *Console) LeaseRef(ctx context.Context, registry *client.Client, ref string) (string, error) {
	if !isPrefix(ref) {
		return ref, nil
	}
	found, err := registry.Leases(ctx, client.LeaseQuery{IDPrefix: ref, PageSize: 2})
	if err != nil {
		return "", err
	}
	var ids []string
	for _, l := range found.Items {
		ids = append(ids, l.ID)
	}
	return only(ids, ref, "lease")
}

// only is the single id; with none, the server reports that the object is missing.
func only(ids []string, ref, what string) (string, error) {
	switch len(ids) {
	case 0:
		return ref, nil
	case 1:
		return ids[0], nil
	}
	return "", errors.New("the id of more than one " + what + " begins with " + ref + "; give more of it")
}

// isPrefix reports whether it may be how a UUID begins, and is not a whole one.
func isPrefix(s string) bool {
	return len(s) >= minPrefix && len(s) < 36 && strings.Trim(strings.ToLower(s), "0123456789abcdef-") == ""
}

// missingError names an object that this program itself did not find.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

// Missing says that there is no such thing; the exit code tells scripts.
func Missing(format string, a ...any) error { return &missingError{fmt.Sprintf(format, a...)} }

// VIMEither lets commands whose argument is a VIM take it as --vim too.
func VIMEither(complete completion, commands ...*cobra.Command) {
	for _, c := range commands {
		if _, argument, _ := strings.Cut(c.Use, " "); strings.Trim(argument, "[]") != "VIM" {
			continue
		}
		var vim string
		check, run := c.Args, c.RunE
		all := func(args []string) []string {
			if vim != "" {
				args = append([]string{vim}, args...)
			}
			return args
		}
		c.Flags().StringVar(&vim, "vim", "", "the VIM, in place of the argument")
		MustComplete(c, "vim", complete)
		c.Args = func(c *cobra.Command, args []string) error { return check(c, all(args)) }
		c.RunE = func(c *cobra.Command, args []string) error { return run(c, all(args)) }
	}
}
