package crash_test

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// looking is the look at an instance, which a server takes when it starts.
var looking = scenario{
	name:   "look at an instance",
	starts: true,
	prepare: func(s *scene) {
		v := s.register("edge")
		s.stop()
		store, err := quickstore.Open(s.ctx(), sqlite.Options{Path: filepath.Join(s.dir, "vimbroker.db")})
		if err != nil {
			s.t.Fatal(err)
		}
		defer store.Close()
		now := time.Now()
		pkg := catalog.Package{ID: uuid.NewString(), Project: v.Project, State: catalog.Created, CreatedAt: now}
		if err := store.CreatePackage(s.ctx(), pkg, 0, audit.Entry{Time: now, Action: policy.PackageCreate, Outcome: audit.Done}); err != nil {
			s.t.Fatal(err)
		}
		i := lifecycle.Instance{ID: uuid.NewString(), Project: v.Project, State: lifecycle.Instantiated, CreatedAt: now, Shape: lifecycle.Shape{
			Package: pkg.ID, Part: lifecycle.Part{VIM: v.ID, VIMName: v.Name, VIMType: "kubernetes", Namespace: "default"},
			Resources: []lifecycle.Resource{{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "default", Name: "pages", Applied: "mark"}},
		}}
		if err := store.CreateInstance(s.ctx(), i, 0, audit.Entry{Time: now, Action: policy.VNFCreate, Outcome: audit.Done}); err != nil {
			s.t.Fatal(err)
		}
	},
	act: func(s *scene) (err error) {
		eventually(s.t, "the instance was looked at", func() error {
			if err = s.Ready(s.ctx()); cutOff(err) {
				return nil
			}
			return s.looked()
		})
		return err
	},
	// The next server looks again. No lease is left of either look; of one that was handed out it takes no expiry.
	after: func(s *scene) {
		eventually(s.t, "the instance was looked at again, and no lease is left", func() error {
			if err := s.looked(); err != nil {
				return err
			}
			for _, l := range s.leases() {
				if l.State != "revoked" {
					return fmt.Errorf("lease %s is %s", l.ID, l.State)
				}
			}
			return nil
		})
		if len(s.leases()) == 0 {
			s.t.Error("no look has taken a lease")
		}
	},
}

// looked is an error until the instance was looked at, whatever was seen.
func (s *scene) looked() error {
	var n int
	if err := s.query(`SELECT count(*) FROM vnf_instances WHERE observed_at > 0`, &n); err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("it was not")
	}
	return nil
}
