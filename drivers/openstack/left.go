package openstack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
)

var _ broker.Comparer = (*Driver)(nil)

const (
	// maxStanding bounds the credentials of a user that are compared.
	maxStanding = 4096
	// maxLeft bounds the sentences about new credentials.
	maxLeft = 100
)

// The kinds of credential that a user can make himself.
const (
	kindAppCred = "application credential"
	kindTrust   = "trust"
	kindEC2     = "EC2 credential"
	kindTOTP    = "TOTP credential"
	kindOther   = "credential of another type"
)

// standing is a credential that a user has at Keystone, without its secret.
type standing struct {
	kind, id string
	// The fields of an application credential: its name, the content of its description,
	// and its end.
	name    string
	mark    mark
	ends    time.Time
	trustee string
}

// short tells a credential from others in little room.
func (c standing) short() [6]byte {
	sum := sha256.Sum256([]byte(c.kind + "/" + c.id))
	return [6]byte(sum[:6])
}

// standing lists what a user has at Keystone that works by itself, as far as the form says.
func (s *session) standing(ctx context.Context, form byte, user string) ([]standing, error) {
	var (
		all   [3][]standing
		group errgroup.Group
		lists = []func(context.Context, string) ([]standing, error){s.standingCredentials}
	)
	if form == formAll {
		lists = append(lists, s.standingAppCreds, s.standingTrusts)
	}
	for i, list := range lists {
		group.Go(func() (err error) {
			all[i], err = list(ctx, user)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := slices.Concat(all[:]...)
	if len(found) > maxStanding {
		return nil, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: fmt.Sprintf("the registered user has more than %d credentials", maxStanding),
			Remedy: "delete those that nobody uses, or register a user of its own",
		}
	}
	if slices.ContainsFunc(found, func(c standing) bool { return !isID(c.id) }) {
		return nil, notKeystone(0)
	}
	return found, nil
}

func (s *session) standingAppCreds(ctx context.Context, user string) ([]standing, error) {
	listed, err := s.list(ctx, user, "")
	var found []standing
	for _, c := range listed {
		m, _ := readMark(c.Description)
		found = append(found, standing{kind: kindAppCred, id: c.ID, name: c.Name, mark: m, ends: c.ExpiresAt})
	}
	return found, err
}

func (s *session) standingTrusts(ctx context.Context, user string) ([]standing, error) {
	type trust struct {
		ID      string `json:"id"`
		Trustee string `json:"trustee_user_id"`
	}
	trusts, err := listOf[trust](ctx, s, "OS-TRUST/trusts?trustor_user_id="+url.QueryEscape(user), "trusts", "trusts", "")
	var found []standing
	for _, t := range trusts {
		if !isID(t.Trustee) {
			return nil, notKeystone(0)
		}
		found = append(found, standing{kind: kindTrust, id: t.ID, trustee: t.Trustee})
	}
	return found, err
}

// standingCredentials lists EC2, TOTP and other credentials. Their blobs, which are
// secret, are not decoded.
func (s *session) standingCredentials(ctx context.Context, user string) ([]standing, error) {
	type credential struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		User string `json:"user_id"`
	}
	credentials, err := listOf[credential](ctx, s, "credentials?user_id="+url.QueryEscape(user), "credentials", "credentials", "")
	var found []standing
	for _, c := range credentials {
		if c.User != user {
			continue // an administrator is shown those of others
		}
		kind := map[string]string{"ec2": kindEC2, "totp": kindTOTP}[c.Type]
		found = append(found, standing{kind: cmp.Or(kind, kindOther), id: c.ID})
	}
	return found, err
}

// The forms of what is remembered: of all that a user has, or of the credentials alone,
// which one request lists.
const (
	formAll         = 1
	formCredentials = 2
)

// remember is the compact form of the existing objects: the form, and the digests, sorted.
func remember(form byte, all []standing) string {
	shorts := make([][6]byte, 0, len(all))
	for _, c := range all {
		shorts = append(shorts, c.short())
	}
	slices.SortFunc(shorts, func(a, b [6]byte) int { return bytes.Compare(a[:], b[:]) })
	packed := []byte{form}
	for _, s := range shorts {
		packed = append(packed, s[:]...)
	}
	return base64.RawStdEncoding.EncodeToString(packed)
}

// stood reads back what [remember] wrote.
func stood(text string) (form byte, was map[[6]byte]bool, err error) {
	packed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(packed)%6 != 1 || packed[0] != formAll && packed[0] != formCredentials {
		return 0, nil, &broker.Error{Kind: broker.ErrUnsupported, Detail: "the list of credentials from before the lease cannot be read"}
	}
	was = map[[6]byte]bool{}
	for short := range slices.Chunk(packed[1:], 6) {
		was[[6]byte(short)] = true
	}
	return packed[0], was, nil
}

// look notes in m what stands before a lease is handed out. The holder of a bounded one
// can make none of it, as the cloud said when it was registered: so only the
// credentials are looked at, and where they cannot be listed nothing is noted.
func (s *session) look(ctx context.Context, grade broker.Grade, m *broker.Minted) {
	if grade == broker.GradeBounded {
		if all, err := s.standing(ctx, formCredentials, s.user.ID); err == nil {
			m.Stood = remember(formCredentials, all)
		}
		return
	}
	all, err := s.standing(ctx, formAll, s.user.ID)
	if err != nil {
		m.Unseen = err.Error()
		return
	}
	m.Stood = remember(formAll, all)
}

// Left implements [broker.Comparer].
func (d *Driver) Left(ctx context.Context, a broker.Access, c broker.Comparison) (left []string, err error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	form, was, err := stood(c.Stood)
	if err != nil {
		return nil, err
	}
	err = d.with(ctx, a, func(s *session) error {
		owner, err := s.ownerOf(a)
		if err != nil {
			return err
		}
		now, err := s.standing(ctx, form, owner)
		if err != nil {
			return err
		}
		for _, found := range now {
			expected, err := d.expected(ctx, found, was, c)
			if err != nil {
				return err
			}
			if expected {
				continue
			}
			if len(left) == maxLeft {
				left[maxLeft-1] = "and more: look through the user's credentials on the cloud"
				return nil
			}
			left = append(left, d.report(ctx, s, owner, found, c.Remove))
		}
		return nil
	})
	return left, err
}

// expected reports whether a credential stood before, is another lease's or a probe,
// or is a stack's own trust.
func (d *Driver) expected(ctx context.Context, found standing, was map[[6]byte]bool, c broker.Comparison) (bool, error) {
	switch {
	case was[found.short()]:
		return true, nil
	case found.kind == kindTrust:
		return slices.Contains(d.stackTrustees, found.trustee), nil
	case found.mark.lease != "":
		handle, _ := number(found.name)
		return c.Live(ctx, found.mark.lease, handle)
	case found.mark.vim != "": // a probe, which ends by itself
		return !found.ends.IsZero() && found.ends.Before(d.now().Add(2*probeTTL)), nil
	}
	return false, nil
}

// report says what a new credential is, and removes it if asked to. A trust is removed
// only where it is known which ones stacks need.
func (d *Driver) report(ctx context.Context, s *session, owner string, found standing, remove bool) string {
	what := found.kind + " " + found.id
	if found.kind == kindTrust {
		what += " for user " + found.trustee
		if len(d.stackTrustees) == 0 {
			return what + ", which is a stack's own if that is Heat's user"
		}
	}
	if !remove {
		return what
	}
	if err := s.removeStanding(ctx, owner, found); err != nil {
		return what + ", which could not be removed: " + err.Error()
	}
	return what + ", removed"
}

func (s *session) removeStanding(ctx context.Context, owner string, c standing) error {
	var path string
	switch c.kind {
	case kindAppCred:
		return s.remove(ctx, owner, c.id)
	case kindTrust:
		path = s.identity.ServiceURL("OS-TRUST", "trusts", c.id)
	default:
		path = s.identity.ServiceURL("credentials", c.id)
	}
	_, err := s.identity.Delete(ctx, path, &gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
	if said(err, http.StatusNotFound) {
		return nil
	}
	return fault(err, "delete", c.kind+"s")
}
