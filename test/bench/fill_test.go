package bench

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// filling is what fills a database, $vims and $leases being how many. One of
// $live leases is live, and, unless all are, 500 and 100 VIMs are due. Indexes are made after the
// rows, and what triggers count is counted at the end: row by row it would take
// an hour.
var filling = []string{
	`ALTER TABLE vims DISABLE TRIGGER vim_counted`,
	`INSERT INTO vims (id, project, name, type, state, shared, is_default, created_by, created_at, updated_at, revision,
			generation, pending, pending_since, health, health_checked, health_message, health_version, can_mint, mint_message, external_ips,
			health_next, idempotency_key, request_digest, description, extra, suspended)
		SELECT md5('vim' || i)::uuid::text, 'project-' || i % ($vims / 100), 'vim-' || i, 'kubernetes', 'registered', false, false,
			'alice', now() - interval '1 y', now(), 1, 1, 0, '-infinity', 'reachable', now(), '', 'v1.36.3', true, '', '',
			now() + CASE WHEN i <= 100 THEN '-1 h' ELSE '1 d' END::interval, '', '', '', '', ''
		FROM generate_series(1, $vims) AS i`,
	`INSERT INTO vim_generations (vim, number, endpoint, ca_cert, insecure_skip_verify, server_name, namespace, scope, shared_kinds, pods_held_by, discovered,
			identity, credential_kind, credential_expires_at, sealed, key_ref, key_store, username, sealed_as)
		SELECT md5('vim' || i)::uuid::text, 1, 'https://vim-' || i || ':6443', repeat(md5('ca' || i), 32), false, '', '', '{}', '', '', '',
			md5('identity' || i)::uuid::text, 'bearerToken', '-infinity', repeat(md5('sealed' || i), 24), 'key-' || i, 'vault', '', 'current'
		FROM generate_series(1, $vims) AS i`,
	`INSERT INTO vim_labels (vim, key, value)
		SELECT md5('vim' || i)::uuid::text, 'site', 'site-' || i % 500 FROM generate_series(1, $vims) AS i`,
	`CREATE TEMP TABLE lease_indexes AS SELECT i.indexrelid::regclass AS name, pg_get_indexdef(i.indexrelid) AS definition
		FROM pg_index AS i WHERE i.indrelid = 'leases'::regclass
			AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid)`,
	`DO $drop$
		DECLARE name regclass;
		BEGIN
			FOR name IN SELECT i.name FROM lease_indexes AS i LOOP
				EXECUTE 'DROP INDEX ' || name;
			END LOOP;
		END $drop$`,
	`INSERT INTO leases (id, vim, vim_name, vim_type, vim_project, vim_generation, project, principal, operation, state, reason,
		role, namespaces, format, purpose, created_at, issued_at, expires_at, max_expires_at, renewed_at, credential_kind,
		unlisted, derived, revocable, max_revocation_lag, revoked_at, confirmed_dead_at, handle, sealed, sealed_key, attempts,
		next_attempt_at, last_error, revision, idempotency_key, request_digest, renewal_begun, rules, cluster_wide, grade, grade_reasons,
		grant_digest, epoch, uid, credential_id, credential_ends_at, stood, left_behind, holder_roles, instance, for_whom, planned, token_ttl, login, secret_sha256, door)
		SELECT md5('lease' || i)::uuid::text, md5('vim' || v)::uuid::text, 'vim-' || v, 'kubernetes', project, 1, project,
		'principal-' || i % 1000, '', CASE WHEN live THEN 'active' ELSE 'revoked' END, CASE WHEN live THEN '' ELSE 'Expired' END,
		'edit', '{}', 'kubeconfig', 'upgrade', at, at, CASE WHEN live AND NOT due THEN now() + interval '1 d' ELSE at + interval '1 h' END,
		at + interval '12 h', '-infinity', 'bearerToken', false, true, true, 10000000,
		CASE WHEN live THEN '-infinity' ELSE at + interval '1 h' END, CASE WHEN live THEN '-infinity' ELSE at + interval '1 h' END,
		md5('handle' || i), CASE WHEN live THEN repeat(md5('sealed' || i), 24) ELSE '' END, '', 0, at, '', 3, 'key-' || i, md5('digest' || i), true, 'null', false, '', '{}',
		'', 0, '', '', '-infinity', '', '{}', '{}', '', '', false, 0, '', '', 'rest'
		FROM (SELECT i, i % $vims + 1 AS v, 'project-' || (i % $vims + 1) % ($vims / 100) AS project, i <= 500 AND $live > 1 AS due,
		i <= 500 OR i % $live = 0 AS live, now() - (i + 500) * interval '30 s' AS at FROM generate_series(1, $leases) AS i) AS l`,
	`DO $create$
		DECLARE definition text;
		BEGIN
			FOR definition IN SELECT i.definition FROM lease_indexes AS i LOOP
				EXECUTE definition;
			END LOOP;
		END $create$`,
	`ALTER TABLE vims ENABLE TRIGGER vim_counted`,
	`INSERT INTO vim_census (part, value, n) SELECT 'state', state, count(*) FROM vims GROUP BY state`,
	`INSERT INTO vim_census (part, value, n) SELECT 'health', health, count(*) FROM vims GROUP BY health`,
	`UPDATE ended_leases SET n = (SELECT count(*) FROM leases WHERE state = 'revoked') WHERE part = 0`,
	`VACUUM ANALYZE`,
}

// fill fills a database whose schema is made.
func fill(b *testing.B, dsn string, vims, leases, live int) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	counts := strings.NewReplacer("$vims", strconv.Itoa(vims), "$leases", strconv.Itoa(leases), "$live", strconv.Itoa(live))
	for _, text := range filling {
		if _, err := conn.Exec(b.Context(), counts.Replace(text)); err != nil {
			b.Fatalf("filling the database: %v, in %s", err, text)
		}
	}
}
