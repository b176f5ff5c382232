package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// vimFilter is the part of a list's filter that the server does not apply.
type vimFilter struct {
	selectors   []string
	allProjects bool
}

// filter puts into the query what the server can choose, and answers with the rest.
func (f *vimFilter) filter(c *cobra.Command, p *program, registry *client.Client, q *client.VIMQuery) (keep func(v1.VIM) bool, err error) {
	q.PageSize = listPage
	selector, err := labels.Parse(strings.Join(f.selectors, ","))
	if err != nil {
		return nil, console.Usage(c, fmt.Errorf("--label: %w", err))
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if op := r.Operator(); op == selection.Equals || op == selection.DoubleEquals {
			if q.Labels == nil {
				q.Labels = map[string]string{}
			}
			q.Labels[r.Key()] = r.ValuesUnsorted()[0]
		}
	}
	project := p.Project
	switch {
	case f.allProjects && project != "":
		return nil, console.Usagef(c, "give --project or --all-projects, not both")
	case f.allProjects:
		return func(v v1.VIM) bool { return selector.Matches(labels.Set(v.Labels)) }, nil
	case project != "":
		return func(v v1.VIM) bool { return v.Project == project && selector.Matches(labels.Set(v.Labels)) }, nil
	}
	me, err := registry.WhoAmI(c.Context())
	if err != nil {
		return nil, err
	}
	return func(v v1.VIM) bool {
		return (v.Shared || v.Project == me.Project || slices.Contains(v.SharedWith, me.Project)) && selector.Matches(labels.Set(v.Labels))
	}, nil
}
