package conformance

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// pages checks that what is added and removed while someone pages neither
// repeats nor hides what was there all the time, and that tokens are checked.
func pages(t *testing.T, s storeTest) {
	var ids []string
	for i := range 6 {
		v := plainVIM("north", fmt.Sprintf("v%d0", i))
		s.mustCreateVIM(t, v)
		ids = append(ids, v.ID)
	}
	var got []string
	token := ""
	for round := 0; ; round++ {
		page, next, err := s.VIMs(s.ctx, broker.VIMFilter{Project: "north", Page: broker.Page{Size: 2, Token: token}})
		if err != nil {
			t.Fatalf("VIMs(page %d) = %v", round, err)
		}
		for _, v := range page {
			if len(v.Name) == 3 {
				got = append(got, v.ID)
			}
		}
		if next == "" {
			break
		}
		if round == 0 {
			s.mustCreateVIM(t, plainVIM("north", "v000")) // before the token
			s.mustCreateVIM(t, plainVIM("north", "v200")) // behind it
			// What the token names goes: the place remains.
			if err := s.DeleteVIM(s.ctx, page[1].ID, false, entry("delete")); err != nil {
				t.Fatal(err)
			}
		}
		token = next
	}
	wantSame(t, "VIMs seen while others came and went", got, ids)

	v := s.mustVIM(t, ids[5])
	var leases []string
	for i := range 5 {
		l := plainLease(v)
		l.CreatedAt = epoch.Add(time.Duration(i/2) * time.Microsecond)
		l.ID = fmt.Sprintf("lease-%d", i)
		s.mustCreateLease(t, l)
		leases = append([]string{l.ID}, leases...)
	}
	got, token = nil, ""
	for round := 0; ; round++ {
		page, next, err := s.Leases(s.ctx, broker.LeaseFilter{VIM: v.ID, Page: broker.Page{Size: 2, Token: token}})
		if err != nil {
			t.Fatalf("Leases(page %d) = %v", round, err)
		}
		for _, l := range page {
			got = append(got, l.ID)
		}
		if next == "" {
			break
		}
		newer := plainLease(v)
		newer.CreatedAt = epoch.Add(time.Hour)
		s.mustCreateLease(t, newer)
		token = next
	}
	wantSame(t, "leases seen while newer ones came", got, leases)

	_, vimToken, err := s.VIMs(s.ctx, broker.VIMFilter{Page: broker.Page{Size: 1}})
	if err != nil || vimToken == "" {
		t.Fatalf("VIMs(size 1) gave token %q, %v", vimToken, err)
	}
	_, leaseToken, err := s.Leases(s.ctx, broker.LeaseFilter{Page: broker.Page{Size: 1}})
	if err != nil || leaseToken == "" {
		t.Fatalf("Leases(size 1) gave token %q, %v", leaseToken, err)
	}
	for _, bad := range []string{
		"x", "!", "e30", vimToken + "A", vimToken + "=", " " + vimToken, leaseToken[1:],
		base64.RawURLEncoding.EncodeToString([]byte(`{"other":1}`)),
	} {
		_, _, err := s.VIMs(s.ctx, broker.VIMFilter{Page: broker.Page{Token: bad}})
		wantError(t, fmt.Sprintf("VIMs(token %q)", bad), err, broker.ErrInvalid, "pageToken")
		_, _, err = s.Leases(s.ctx, broker.LeaseFilter{Page: broker.Page{Token: bad}})
		wantError(t, fmt.Sprintf("Leases(token %q)", bad), err, broker.ErrInvalid, "pageToken")
	}
	_, _, err = s.VIMs(s.ctx, broker.VIMFilter{Page: broker.Page{Token: leaseToken}})
	wantError(t, "VIMs(token of leases)", err, broker.ErrInvalid, "pageToken")
	_, _, err = s.Leases(s.ctx, broker.LeaseFilter{Page: broker.Page{Token: vimToken}})
	wantError(t, "Leases(token of VIMs)", err, broker.ErrInvalid, "pageToken")
	for _, size := range []int{-1, 1001} {
		_, _, err := s.VIMs(s.ctx, broker.VIMFilter{Page: broker.Page{Size: size}})
		wantError(t, fmt.Sprintf("VIMs(size %d)", size), err, broker.ErrInvalid, "pageSize")
		_, _, err = s.Leases(s.ctx, broker.LeaseFilter{Page: broker.Page{Size: size}})
		wantError(t, fmt.Sprintf("Leases(size %d)", size), err, broker.ErrInvalid, "pageSize")
	}
	if page, _, err := s.VIMs(s.ctx, broker.VIMFilter{Page: broker.Page{Size: 1000}}); err != nil || len(page) == 0 {
		t.Errorf("VIMs(size 1000) = %d, %v", len(page), err)
	}
}
