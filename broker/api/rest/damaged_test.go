package rest_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

func nested(levels int) string {
	return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
}

// What is stored of a VIM and cannot be shown keeps nobody's list from being shown.
func TestOneBadRowDoesNotBreakAList(t *testing.T) {
	for name, text := range map[string]string{
		"deep":       `UPDATE vims SET extra = '` + nested(20_000) + `' WHERE id = ?`,
		"not JSON":   `UPDATE vims SET extra = '{"a":' WHERE id = ?`,
		"twice":      `UPDATE vims SET extra = '{"a":1,"a":2}' WHERE id = ?`,
		"not text":   `UPDATE vims SET description = CAST(x'ff' AS TEXT) WHERE id = ?`,
		"unreadable": `INSERT INTO vim_generations SELECT vim, 7, endpoint, ca_cert, insecure_skip_verify, server_name, namespace, '{', shared_kinds, pods_held_by, discovered, identity, username, credential_kind, credential_expires_at, sealed, sealed_as, key_ref, key_store FROM vim_generations WHERE vim = ?`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			alice, ctx := b.as("alice"), t.Context()
			bad, err := alice.RegisterVIM(ctx, b.registration("bad"), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := alice.RegisterVIM(ctx, b.registration("good"), ""); err != nil {
				t.Fatal(err)
			}
			db, err := quickstore.Raw(b.database)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(text, bad.ID); err != nil {
				t.Fatal(err)
			}
			for _, caller := range []*client.Client{alice, b.as("root")} {
				found, err := caller.VIMs(ctx, client.VIMQuery{})
				if err != nil || len(found.Items) == 0 || found.Items[len(found.Items)-1].Name != "good" {
					t.Errorf("VIMs() = %d VIMs, %v, want the good one among them", len(found.Items), err)
				}
			}
		})
	}
}

func TestExtraNestsOnlySoDeep(t *testing.T) {
	b := newBench(t)
	alice, ctx := b.as("alice"), t.Context()
	r := b.registration("edge1")
	for levels, want := range map[int]bool{12: true, 13: false, 15: false, 9_000: false} {
		r.Extra = jsontext.Value(nested(levels))
		_, err := alice.RegisterVIM(ctx, r, "")
		if (err == nil) != want {
			t.Errorf("RegisterVIM() with extra of %d levels = %v", levels, err)
		}
	}
	if _, err := alice.UpdateVIM(ctx, "edge1", v1.Change{Extra: jsontext.Value(nested(13))}, 1); err == nil {
		t.Error("UpdateVIM() with extra of 13 levels = nil, want it refused")
	}
}

// An audit entry that cannot be read is listed as damaged, among the others, and nothing
// proves it.
func TestADamagedAuditEntryDoesNotBreakTheLog(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	for _, name := range []string{"one", "two", "three"} {
		if _, err := b.as("alice").RegisterVIM(ctx, b.registration(name), ""); err != nil {
			t.Fatal(err)
		}
	}
	root := b.as("root")
	before, err := root.Audit(ctx, client.AuditQuery{})
	if err != nil || len(before.Items) < 4 {
		t.Fatalf("%d entries, %v", len(before.Items), err)
	}
	if _, err := root.AuditTree(ctx, 0); err != nil { // all of it is in the tree
		t.Fatal(err)
	}
	bad := before.Items[2].Seq
	db, err := quickstore.Raw(b.database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`DROP TRIGGER audit_never_changes`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE audit_entries SET detail = '{"vim": {"a": 1}}' WHERE seq = ?`, bad); err != nil {
		t.Fatal(err)
	}
	for who, caller := range map[string]*client.Client{"root": root, "alice": b.as("alice")} {
		found, err := caller.Audit(ctx, client.AuditQuery{})
		if err != nil {
			t.Fatalf("%s: Audit() = %v", who, err)
		}
		damaged := 0
		for _, e := range found.Items {
			if e.Damaged != (e.Seq == bad) {
				t.Errorf("%s: entry %d is damaged: %t", who, e.Seq, e.Damaged)
			}
			if e.Damaged {
				damaged++
			}
		}
		if damaged != 1 || len(found.Items) < 4 {
			t.Errorf("%s: %d of %d entries are damaged, want one among the others", who, damaged, len(found.Items))
		}
	}
	if _, err := root.AuditProof(ctx, bad); err == nil {
		t.Error("the damaged entry is proven")
	}
	if _, err := root.AuditProof(ctx, bad-1); err != nil {
		t.Errorf("the entry before it: %v", err)
	}
}
