package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/export"
)

func (p *program) auditExportCommand() *cobra.Command {
	var out string
	var from, to int64
	c := &cobra.Command{
		Use:   "export --out FILE",
		Short: "Export the audit log to a file that proves itself",
		Long: `Export audit entries to a file, from the oldest to the newest, with the hashes
that prove them and a signed checkpoint that covers them. "vimbroker audit
verify --file FILE --key KEY" finds every change of it without the server, with
a public key that was kept ("vimbroker audit key list").

A file that is there goes on: where the export was interrupted, or, where it is
complete, with the entries that are newer than those it holds. What it holds is
verified first, and nothing is written to a file that was changed. The export
is of the entries that are signed; --from and --to choose others, by their
position. Entries that --to names and no checkpoint covers yet are exported
without one. You need the right to read every project's entries.`,
		Example: `  vimbroker audit export --out audit.export
  vimbroker audit export --out march.export --from 4711 --to 9422`,
		Args: console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			if out == "" {
				return console.Usagef(c, "give --out, the file to write")
			}
			if from < 0 || to < 0 || to > 0 && to < from {
				return console.Usagef(c, "--from and --to must be positions in the log, --to not before --from")
			}
			f, err := os.OpenFile(out, os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				return err
			}
			text, err := exportAudit(c.Context(), registry, f, from, to)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.Out, text)
			return err
		}),
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "", "file to write, or to go on with")
	flags.Int64Var(&from, "from", 0, "position of the first entry (default 1, or where the file ends)")
	flags.Int64Var(&to, "to", 0, "position of the last entry (default the newest that is signed)")
	return c
}

// exportAudit continues an export, and reports the content of the file.
func exportAudit(ctx context.Context, registry *client.Client, f *os.File, from, to int64) (string, error) {
	held, w, err := export.Resume(f)
	if err != nil {
		return "", fmt.Errorf("%s is left as it is: %w", f.Name(), err)
	}
	begun, open := held.Open()
	switch {
	case open && (from > 0 && from != held.From || to > 0 && to != begun):
		return "", fmt.Errorf("%s is an export up to entry %d that was interrupted: finish it first, without --from and --to", f.Name(), begun)
	case held.From > 0 && from > 0 && from != held.To+1 && !open:
		return "", fmt.Errorf("%s holds the entries from %d to %d: what goes on from it begins at %d", f.Name(), held.From, held.To, held.To+1)
	}
	past, err := registry.Retention(ctx)
	if err != nil {
		return "", err
	}
	if open {
		if next, more := w.Next(); more && next <= past.Horizon {
			return "", fmt.Errorf("%s was interrupted before entry %d, and the log begins with entry %d: those before were removed, "+
				"because retention has them no longer; export to another file", f.Name(), next, past.Horizon+1)
		}
	} else {
		switch {
		case held.From > 0:
			from = held.To + 1
		case from == 0:
			from = past.Horizon + 1
		}
		if from <= past.Horizon {
			return "", fmt.Errorf("%s: the log begins with entry %d: those before were removed, because retention has them no longer",
				f.Name(), past.Horizon+1)
		}
		header, err := exportHeader(ctx, registry, from, to)
		if err != nil {
			return "", err
		}
		if header.Size < from {
			return fmt.Sprintf("%s: no entry after %d is signed yet", f.Name(), header.Size), nil
		}
		if err := w.Begin(header); err != nil {
			return "", fmt.Errorf("the server's answer is not of the entries that were asked for: %w", err)
		}
	}
	if err := exportEntries(ctx, registry, w); err != nil {
		return "", err
	}
	state, err := w.End()
	if err != nil {
		return "", fmt.Errorf("the audit log was changed: %w", err)
	}
	if held, err = rereadExport(f); err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s holds entries %d to %d; anchor: %s", f.Name(), held.From, held.To, anchorText(state))
	if !held.Signed {
		text += "; no checkpoint signs them all"
	}
	return text, nil
}

// rereadExport verifies the written file.
func rereadExport(f *os.File) (*export.Export, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return export.Read(f, nil)
}

// exportHeader asks for the proof of the entries from one to another; to of 0 is the newest signed entry. If no
// entry from the first on is signed, the header only says how many are.
func exportHeader(ctx context.Context, registry *client.Client, from, to int64) (export.Header, error) {
	signed, err := registry.AuditCheckpoint(ctx)
	if client.Status(err) == http.StatusNotFound { // nothing is signed yet
		signed, err = v1.AuditCheckpoint{}, nil
	}
	if err != nil {
		return export.Header{}, err
	}
	if to == 0 {
		to = signed.Size
	}
	if to < from {
		return export.Header{Size: signed.Size}, nil
	}
	later := max(to, signed.Size)
	grown, err := registry.AuditGrowthTo(ctx, to, later)
	if err != nil {
		return export.Header{}, err
	}
	shown, err := registry.AuditTree(ctx, from-1)
	if err != nil {
		return export.Header{}, err
	}
	h := export.Header{From: from, To: to, Size: grown.Size, Root: grown.Root, Proof: grown.Proof, Frontier: shown.Frontier}
	if later > signed.Size {
		return h, nil
	}
	keys, err := registry.AuditKeys(ctx)
	if err != nil {
		return export.Header{}, err
	}
	h.Checkpoint = signed.Note
	if h.Keys, err = json.Marshal(keys.Items); err != nil {
		return export.Header{}, err
	}
	_, err = trusting(nil)(h)
	return h, err
}

// trusting returns a function that opens the checkpoint of a header with kept keys and the keys they endorse, or
// with any key that the header names if none was kept. That function returns the verifier of a key that signed the
// checkpoint. A header without a checkpoint is refused if keys were kept, and has no verifier otherwise.
func trusting(kept []string) func(export.Header) (verifier string, err error) {
	return func(h export.Header) (verifier string, err error) {
		if h.Checkpoint == "" {
			if len(kept) > 0 {
				return "", errors.New("no checkpoint signs the entries")
			}
			return "", nil
		}
		var shown []v1.AuditKey
		if err := json.Unmarshal(h.Keys, &shown); err != nil {
			return "", errors.New("the keys of the log cannot be read")
		}
		keys, err := trustedKeys(shown, kept)
		if err != nil {
			return "", err
		}
		state, err := notary.Open(keys, h.Checkpoint)
		if err != nil {
			return "", err
		}
		if state.Size != h.Size || !bytes.Equal(state.Root[:], h.Root) {
			return "", errors.New("the checkpoint is of another log than the header names")
		}
		for _, k := range keys {
			if _, err := notary.Open([]notary.SigningKey{k}, h.Checkpoint); err == nil {
				verifier = k.Verifier
			}
		}
		return verifier, nil
	}
}

// exportEntries fetches the entries of the open section, and writes them, some thousand at a time.
func exportEntries(ctx context.Context, registry *client.Client, w *export.Writer) error {
	for seq, more := w.Next(); more; seq, more = w.Next() {
		lines, err := registry.AuditLines(ctx, seq-1)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			return fmt.Errorf("audit entry %d is missing", seq)
		}
		for _, line := range lines {
			e, err := audit.ParseLine(line)
			if err != nil {
				return err
			}
			if err := w.Add(e); err != nil {
				return err
			}
			if _, more := w.Next(); !more {
				break
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// verifiesFiles lets a command verify an export, for which it needs no server.
func (p *program) verifiesFiles(c *cobra.Command) *cobra.Command {
	var name string
	remote := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if name == "" {
			return remote(c, args)
		}
		anchor, err := c.Flags().GetString("anchor")
		if err != nil {
			return err
		}
		kept, err := c.Flags().GetStringArray("key")
		if err != nil {
			return err
		}
		text, err := verifyExport(name, anchor, kept)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.Out, text)
		return err
	}
	c.Long += `

With --file it verifies an export ("vimbroker audit export") and asks no
server. With --key the export must be signed by that key, or by one that it
endorsed: then nobody else made it. Otherwise compare the key, or the anchor of
the log, that it prints with one that you kept, or give that as --anchor.`
	c.Flags().StringVar(&name, "file", "", "verify this export, without the server")
	return c
}

// verifyExport verifies a file, and reports its content.
func verifyExport(name, anchor string, kept []string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var signer string
	held, err := export.Read(f, func(h export.Header) (err error) {
		signer, err = trusting(kept)(h)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if !held.Complete() {
		return "", fmt.Errorf("%s: the export was interrupted behind line %d, and what is there is not proven; go on with: vimbroker "+
			"audit export --out %s", name, held.Lines, name)
	}
	up, log := anchorText(held.State), anchorText(held.Log)
	if anchor != "" && anchor != up && anchor != log {
		return "", fmt.Errorf("%s: it says nothing about the log of the anchor, but of the logs with the anchors %s and %s", name, up, log)
	}
	text := fmt.Sprintf("entries %d to %d verified; anchor: %s; ", held.From, held.To, up)
	if signer == "" {
		return text + "no checkpoint signs them all", nil
	}
	return text + "signed by: " + signer, nil
}
