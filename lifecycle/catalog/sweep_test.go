package catalog_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/test/faults"
)

// swept is a catalogue in a sweep.
type swept struct {
	*scene
	t    *testing.T
	text []byte
}

var catalogues = faults.Kit[*swept]{
	New: func(t *testing.T) *swept { return &swept{set(t, nil), t, packed(t, "vnfd-1")} },
	World: func(s *swept) faults.World {
		none := func() []string { return nil }
		return faults.World{Objects: none, Keys: none, Secrets: []string{canary}, Pass: func(wait time.Duration) error {
			s.clock.Add(wait + 2*time.Hour)
			var failed []error
			for _, pass := range s.Passes() {
				failed = append(failed, pass.Run(s.t.Context()))
			}
			return errors.Join(failed...)
		}}
	},
}

func (s *swept) created() string { return s.create(s.t, alice).ID }

func (s *swept) onboarded() string { return s.onboard(s.t, alice, "vnfd-1").ID }

func (s *swept) disabled() string {
	id, off := s.onboarded(), false
	if _, err := s.Modify(s.t.Context(), alice, catalog.PackageRef{ID: id}, catalog.PackageUpdate{Enabled: &off}); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// content is what a package holds, as it is read.
func (s *swept) content(id string) (any, error) {
	r, err := s.Read(s.t.Context(), alice, catalog.PackageRef{ID: id})
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r.Content)
	return bytes.Equal(text, s.text), err
}

type flow = faults.Flow[*swept]

func TestSweepPackages(t *testing.T) {
	faults.Sweep(t, catalogues,
		flow{Name: "create", Leaves: `^vnf_packages:|^entry: done `, Do: func(s *swept, _ string) (any, error) {
			return s.Create(s.t.Context(), alice, `{"stage":"prod"}`)
		}},
		flow{Name: "upload", Repeated: broker.ErrConflict, Given: (*swept).created, Do: func(s *swept, id string) (any, error) {
			return s.Upload(s.t.Context(), alice, catalog.PackageRef{ID: id}, bytes.NewReader(s.text))
		}, Then: func(s *swept, id string) any {
			same, err := s.content(id)
			return []any{same, err}
		}},
		flow{Name: "modify", Repeated: broker.ErrConflict, Given: (*swept).onboarded, Do: func(s *swept, id string) (any, error) {
			off := false
			return s.Modify(s.t.Context(), alice, catalog.PackageRef{ID: id}, catalog.PackageUpdate{Enabled: &off})
		}},
		flow{Name: "delete", Repeated: broker.ErrNotFound, Given: (*swept).disabled, Do: func(s *swept, id string) (any, error) {
			return nil, s.Delete(s.t.Context(), alice, catalog.PackageRef{ID: id})
		}},
		flow{Name: "read", Given: (*swept).onboarded, Do: (*swept).content},
		flow{Name: "use", Given: (*swept).onboarded, Do: func(s *swept, _ string) (any, error) {
			opened, err := s.Use(s.t.Context(), alice, "vnfd-1")
			if err != nil {
				return nil, err
			}
			files, err := opened.Files(opened.Paths())
			return []any{opened.VNFD, len(files)}, err
		}},
	)
}
