package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// verifying are the flags of audit verify.
type verifying struct {
	anchor, keep string
	keys         []string
	newer        bool
}

func (p *program) auditVerifyCommand() *cobra.Command {
	var f verifying
	c := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no audit entry is missing, altered or out of order",
		Long: `Fetch the audit log, and verify that it is whole: the log whose Merkle tree
(RFC 6962) the server keeps and whose checkpoints it signed. A log that was
changed is reported with the place. You need the right to read
every project's entries.

--anchor proves that the log begins with what it held earlier: give an anchor
that an earlier run printed, or a file of checkpoints, either one that
"vimbroker audit checkpoint" printed or one that a server anchors to. A log
that was rewritten or cut off, even as a whole, does not pass. With --newer
only the entries that are newer than the newest anchor are fetched.

--keep does the same from one run to the next: the file holds the last
checkpoint that passed and the keys that signed it, and each run goes on from
there. Without it or --key the verifier keys are those that the server names.`,
		Example: `  vimbroker audit verify
  vimbroker audit verify --keep ~/audit.checkpoint
  vimbroker audit verify --anchor anchors.jsonl --newer
  vimbroker audit verify \
      --anchor 4711:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error { return p.verifyLog(c, registry, f) }),
	}
	c.Flags().StringVar(&f.anchor, "anchor", "", "an anchor that an earlier run printed, or a file of checkpoints")
	c.Flags().StringArrayVar(&f.keys, "key", nil, "a verifier key that was kept: trust it, and what it endorses, and no other")
	c.Flags().StringVar(&f.keep, "keep", "", "go on from the checkpoint in this file, and keep the last one there")
	c.Flags().BoolVar(&f.newer, "newer", false, "verify only the entries that are newer than the anchor")
	return c
}

// verifyLog fetches the audit log, and verifies it against the points that are known of it.
func (p *program) verifyLog(c *cobra.Command, registry *client.Client, f verifying) error {
	keeping, err := readKept(f.keep)
	if err != nil {
		return err
	}
	keys, err := auditKeys(c.Context(), registry, slices.Concat(f.keys, keeping.Keys))
	if err != nil {
		return err
	}
	points, err := p.auditPoints(f.anchor, keys)
	if err != nil {
		return console.Usage(c, err)
	}
	var from int64
	if f.newer && len(points) > 0 {
		from = points[len(points)-1].Size
	}
	if keeping.Checkpoint != "" {
		point, err := signedPoint(keys, keeping.Checkpoint, "the checkpoint in "+f.keep)
		if err != nil {
			return err
		}
		points, from = append(points, point), max(from, point.Size)
	}
	signed, err := registry.AuditCheckpoint(c.Context())
	if err == nil {
		var point audit.Point
		if point, err = signedPoint(keys, signed.Note, "the server's last checkpoint"); err == nil {
			points = append(points, point)
		}
	}
	if client.Status(err) == 404 { // nothing is signed yet
		err = nil
	}
	if err != nil {
		return err
	}
	if from, err = notRemoved(c.Context(), registry, points, from); err != nil {
		return err
	}
	now, err := verifyAudit(c.Context(), registry, points, from)
	if err != nil {
		return err
	}
	if f.keep != "" && signed.Note != "" {
		if err := writeKept(f.keep, signed.Note, keys); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.Out, "%s verified; anchor: %s\n", console.Count(now.Size-from, "entry", "entries"), anchorText(now))
	return err
}

// kept is the content of the file of --keep.
type kept struct {
	Checkpoint string   `json:"checkpoint"`
	Keys       []string `json:"keys"`
}

// readKept reads the file of --keep; one that is not there yet holds nothing.
func readKept(name string) (kept, error) {
	var k kept
	if name == "" {
		return k, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return k, fmt.Errorf("reading what was kept: %w", err)
	}
	if json.Unmarshal(text, &k) != nil || k.Checkpoint == "" || len(k.Keys) == 0 {
		return k, fmt.Errorf("%s is not a file that \"vimbroker audit verify --keep\" wrote; name another, or move it away", name)
	}
	return k, nil
}

// writeKept keeps a checkpoint, and the keys whose later checkpoints count.
func writeKept(name, checkpoint string, keys []notary.SigningKey) error {
	k := kept{Checkpoint: checkpoint}
	for _, key := range keys {
		if key.State != notary.Revoked {
			k.Keys = append(k.Keys, key.Verifier)
		}
	}
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return files.WritePrivate(name, append(text, '\n'))
}

// auditKeys returns the keys of the log: those that the kept ones vouch for, or all where none
// was kept.
func auditKeys(ctx context.Context, registry *client.Client, kept []string) ([]notary.SigningKey, error) {
	shown, err := registry.AuditKeys(ctx)
	if err != nil {
		return nil, err
	}
	return trustedKeys(shown.Items, kept)
}

// trustedKeys are those keys that the kept ones vouch for, or all where none was kept.
func trustedKeys(shown []v1.AuditKey, kept []string) ([]notary.SigningKey, error) {
	var keys []notary.SigningKey
	for _, k := range shown {
		keys = append(keys, notary.SigningKey{
			ID: k.ID, State: notary.SigningKeyState(k.State), Origin: k.Origin, Verifier: k.Verifier,
			Since: k.Since, Until: k.Until, Endorsement: k.Endorsement,
		})
	}
	if len(kept) == 0 {
		return keys, nil
	}
	return notary.Trusted(keys, kept...)
}

// signedPoint is the state that a checkpoint states.
func signedPoint(keys []notary.SigningKey, signed, name string) (audit.Point, error) {
	state, err := notary.Open(keys, signed)
	if err != nil {
		return audit.Point{}, fmt.Errorf("%s: %w; \"vimbroker audit key list\" shows the keys that the server names", name, err)
	}
	return audit.Point{Head: state, Name: name}, nil
}

// auditPoints reads --anchor: the text of one, or a file of checkpoints, one alone or one in
// each line of JSON. They are in the order of their size. A checkpoint that a revoked key signed
// too late is left out, with a warning.
func (p *program) auditPoints(anchor string, keys []notary.SigningKey) ([]audit.Point, error) {
	if anchor == "" {
		return nil, nil
	}
	if state, ok := parseAnchor(anchor); ok {
		return []audit.Point{{Head: state, Name: "the anchor"}}, nil
	}
	text, err := files.ReadNamed(anchor)
	if err != nil {
		return nil, fmt.Errorf("--anchor must be what \"vimbroker audit verify\" printed, like "+
			"4711:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=, or a file: %w", err)
	}
	var notes []string
	if !strings.HasPrefix(string(text), "{") {
		notes = []string{string(text)}
	}
	for number, line := range strings.Split(string(text), "\n") {
		if len(notes) == 1 && notes[0] == string(text) || line == "" {
			continue
		}
		var l struct{ Checkpoint string }
		if json.Unmarshal([]byte(line), &l) != nil || l.Checkpoint == "" {
			return nil, fmt.Errorf("%s: line %d holds no checkpoint", anchor, number+1)
		}
		notes = append(notes, l.Checkpoint)
	}
	var points []audit.Point
	for i, signed := range notes {
		point, err := signedPoint(keys, signed, fmt.Sprintf("checkpoint %d of %s", i+1, anchor))
		if errors.Is(err, notary.ErrBeyond) {
			p.Warn("%v; it is left out", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		points = append(points, point)
	}
	slices.SortStableFunc(points, func(a, b audit.Point) int { return cmp.Compare(a.Size, b.Size) })
	return points, nil
}

// anchorText is a state of the log for a person to keep.
func anchorText(s tree.Head) string {
	return fmt.Sprintf("%d:%s", s.Size, base64.StdEncoding.EncodeToString(s.Root[:]))
}

// parseAnchor reads what anchorText wrote.
func parseAnchor(text string) (tree.Head, bool) {
	number, root, _ := strings.Cut(text, ":")
	size, err := strconv.ParseInt(number, 10, 64)
	hash, rootErr := base64.StdEncoding.DecodeString(root)
	if err != nil || rootErr != nil || size < 0 || len(hash) != len(tree.Hash{}) {
		return tree.Head{}, false
	}
	return tree.Head{Size: size, Root: tree.Hash(hash)}, true
}

// verifyAudit fetches the entries after the first from, and compares them with the points and with the
// server's tree. It returns the present log.
func verifyAudit(ctx context.Context, registry *client.Client, points []audit.Point, from int64) (tree.Head, error) {
	now, frontier, err := auditTreeAt(ctx, registry, from)
	if err != nil {
		return tree.Head{}, err
	}
	for _, p := range points {
		if p.Size > now.Size {
			return tree.Head{}, fmt.Errorf("the audit log was cut off: it ends at entry %d, and %s says %d", now.Size, p.Name, p.Size)
		}
	}
	v, err := audit.NewVerifier(from, frontier, points)
	if errors.Is(err, tree.ErrUnproven) {
		err = errors.New("the server's answer does not show the log as it was at the anchor's size")
	}
	if err != nil {
		return tree.Head{}, err
	}
	err = addLines(ctx, registry, v, now.Size)
	var differs *audit.PointError
	var broken *audit.OrderError
	switch {
	case errors.As(err, &broken):
		// An attacker who cuts the log off may have put other entries in place of the removed ones.
		was, treeErr := treeStateAt(ctx, registry, v.Size())
		if treeErr == nil && v.State() != was {
			return tree.Head{}, changedBetween(ctx, registry, from, v.Size())
		}
		return tree.Head{}, err
	case errors.As(err, &differs):
		// The tree may be the one that it was: then it tells which entry is not.
		if was, treeErr := treeStateAt(ctx, registry, differs.Point.Size); treeErr != nil || was != differs.Point.Head {
			return tree.Head{}, err
		}
		return tree.Head{}, changedBetween(ctx, registry, max(from, differs.Sound), differs.Point.Size)
	case err != nil:
		return tree.Head{}, err
	}
	if v.State() != now {
		return tree.Head{}, changedBetween(ctx, registry, from, now.Size)
	}
	return now, nil
}

// notRemoved is the beginning of the verification: from, or the beginning of a log whose oldest
// entries were removed. The hashes that stay prove earlier points.
func notRemoved(ctx context.Context, registry *client.Client, points []audit.Point, from int64) (int64, error) {
	past, err := registry.Retention(ctx)
	if err != nil || past.Horizon <= from {
		return from, err
	}
	for _, point := range points {
		if point.Size >= past.Horizon {
			continue
		}
		if _, err := proveGrowth(ctx, registry, point.Head); err != nil {
			return 0, err
		}
	}
	return past.Horizon, nil
}

// changedBetween names the first entry after from that is not the one of the server's tree.
func changedBetween(ctx context.Context, registry *client.Client, from, upTo int64) error {
	at, err := firstChanged(ctx, registry, from, upTo)
	if err != nil {
		return fmt.Errorf("the audit log was changed: its entries from %d to %d are not those of its tree", from+1, upTo)
	}
	return fmt.Errorf("the audit log was changed: entry %d is not the one that its tree holds", at)
}

// addLines fetches the lines that follow what was verified, up to a size; the next are fetched while some are
// verified.
func addLines(ctx context.Context, registry *client.Client, v *audit.Verifier, upTo int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type page struct {
		lines [][]byte
		err   error
	}
	pages := make(chan page, 1)
	go func(after int64) {
		defer close(pages)
		for after < upTo {
			lines, err := registry.AuditLines(ctx, after)
			if err == nil && len(lines) == 0 {
				err = audit.Missing(after + 1)
			}
			lines = lines[:min(int64(len(lines)), upTo-after)]
			select {
			case pages <- page{lines, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			after += int64(len(lines))
		}
	}(v.Size())
	for p := range pages {
		if p.err != nil {
			return p.err
		}
		if err := v.Add(p.lines); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// firstChanged finds the first entry that is not the one of the server's tree. The first from are.
func firstChanged(ctx context.Context, registry *client.Client, from, upTo int64) (int64, error) {
	for upTo-from > 1 {
		middle := from + (upTo-from)/2
		_, frontier, err := auditTreeAt(ctx, registry, from)
		if err != nil {
			return 0, err
		}
		v, err := audit.NewVerifier(from, frontier, nil)
		if err != nil {
			return 0, err
		}
		if err := addLines(ctx, registry, v, middle); err != nil {
			return 0, err
		}
		want, err := treeStateAt(ctx, registry, middle)
		if err != nil {
			return 0, err
		}
		if v.State() == want {
			from = middle
		} else {
			upTo = middle
		}
	}
	return upTo, nil
}

// treeStateAt is the log's tree at an earlier size.
func treeStateAt(ctx context.Context, registry *client.Client, size int64) (tree.Head, error) {
	_, frontier, err := auditTreeAt(ctx, registry, size)
	if err != nil {
		return tree.Head{}, err
	}
	b, err := tree.NewBuilder(size, frontier)
	if err != nil {
		return tree.Head{}, err
	}
	return b.State(), nil
}

// auditTreeAt is the log's present tree, and its frontier at an earlier size.
func auditTreeAt(ctx context.Context, registry *client.Client, size int64) (tree.Head, []tree.Hash, error) {
	shown, err := registry.AuditTree(ctx, size)
	if err != nil {
		return tree.Head{}, nil, err
	}
	return auditTree(shown)
}

// auditTree reads the server's answer.
func auditTree(t v1.AuditTree) (tree.Head, []tree.Hash, error) {
	hashes := make([]tree.Hash, 0, len(t.Frontier)+1)
	for _, h := range append([][]byte{t.Root}, t.Frontier...) {
		if len(h) != len(tree.Hash{}) {
			return tree.Head{}, nil, errors.New("the server's answer holds a hash of another length than SHA-256's")
		}
		hashes = append(hashes, tree.Hash(h))
	}
	return tree.Head{Size: t.Size, Root: hashes[0]}, hashes[1:], nil
}
