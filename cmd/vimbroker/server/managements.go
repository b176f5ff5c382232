package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// managementConfig is a management cluster that is enabled at each start.
type managementConfig struct {
	// VIM is the name of a VIM of Project.
	VIM, Project string
	Settings     onboard.Settings
}

// fields is the vocabulary of one.
func (m *managementConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	s := &m.Settings
	return strictyaml.Fields{
		"vim":               d.Text(&m.VIM),
		"project":           d.Text(&m.Project),
		"namespaces":        d.Texts(&s.Namespaces),
		"namespaceSelector": files.Words(d, &s.NamespaceSelector),
		"selector":          files.Words(d, &s.Selector),
		"projects":          files.Words(d, &s.Projects),
		"secretName":        d.Text(&s.SecretName),
		"secretKey":         d.Text(&s.SecretKey),
		"nameTemplate":      d.Text(&s.NameTemplate),
		"copyLabels":        d.Texts(&s.CopyLabels),
		"controlPlanes":     d.Texts(&s.ControlPlanes),
		"account":           d.Text(&s.Account),
		"maxGone":           d.Count(&s.MaxGone),
		"maxGoneShare":      d.Count(&s.MaxGoneShare),
		"annotation":        d.Text(&s.Annotation),
	}
}

// validateManagements notes what no management cluster can be enabled with.
func (c *config) validateManagements(d *strictyaml.Document) {
	type name struct{ project, vim string }
	seen := map[name]bool{}
	for i := range c.Managements {
		m, at := &c.Managements[i], fmt.Sprintf("managementClusters[%d]", i)
		if m.VIM == "" {
			d.Fault(nil, at+".vim", "must be the name of a VIM")
		}
		if m.Project == "" {
			d.Fault(nil, at+".project", "must be the project of the VIM")
		}
		if seen[name{m.Project, m.VIM}] {
			d.Fault(nil, at+".vim", "is named twice")
		}
		seen[name{m.Project, m.VIM}] = true
		var wrong *broker.Error
		if err := m.Settings.Complete(); errors.As(err, &wrong) {
			key := at
			if wrong.Field != "" {
				key += "." + wrong.Field
			}
			d.Fault(nil, key, "%s", wrong.Detail)
		}
	}
}

// enableAgain is the wait after a failure until the next attempt to enable a management
// cluster: its VIM may be registered meanwhile.
const enableAgain = 10 * time.Second

// enableManagements enables the management clusters that the configuration names, at the start and where a reload changes
// one. A later change by a person holds until then.
func (s *server) enableManagements(ctx context.Context) {
	said, done := map[string]string{}, map[string]managementConfig{}
	for {
		var again <-chan time.Time
		for _, m := range s.live.now.Load().Managements {
			at := m.Project + "/" + m.VIM
			if before, is := done[at]; is && reflect.DeepEqual(before, m) {
				continue
			}
			err := s.onboard.EnableConfigured(ctx, m.Project, m.VIM, m.Settings)
			if err == nil {
				done[at] = m
				continue
			}
			if again == nil {
				again = s.after(enableAgain)
			}
			if ctx.Err() == nil && said[at] != err.Error() {
				s.log.WarnContext(ctx, "a management cluster of the configuration is not enabled yet", "vim", m.VIM, "project", m.Project, "error", err)
				said[at] = err.Error()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-s.managements:
		}
	}
}
