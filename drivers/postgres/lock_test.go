package postgres

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestDatabaseKnowsTheLockOfAVIM compares the key that is computed in SQL with the
// one that every other writer takes.
func TestDatabaseKnowsTheLockOfAVIM(t *testing.T) {
	s, err := Open(t.Context(), Options{DSN: secret.NewText(real.Postgres(t).DSN(t)), Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, vim := range []string{"", "v", "6f2c1c9e-7d0c-4a53-9b1f-0f3a5f0c9a11", "vim-\u00e4\u20ac\U0001f600", `back\slash`} {
		got, err := readOne(t.Context(), s, scalar[int64], `SELECT `+vimLockKey+` FROM (SELECT $1::text AS vim) AS leases`, vim)
		if want := lockKey(tables.LockVIM, vim); err != nil || got != want {
			t.Errorf("key of VIM %q = %d, %v in the database, want %d", vim, got, err, want)
		}
	}
}
