package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
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
that prove them: "vimbroker audit verify --file FILE" finds every change of it,
without the server, and prints an anchor of the log that it is from.

A file that is there goes on: where the export was interrupted, or, where it is
complete, with the entries that are newer than those it holds. What it holds is
verified first, and nothing is written to a file that was changed. The export
is of the entries up to now; --from and --to choose others, by their position.
You need the right to read every project's entries.`,
		Example: `  vimbroker audit export --out audit.export
  vimbroker audit export --out march.export --from 4711 --to 9422`,
		Args: console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
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
			text, err := exportAudit(c.Context(), broker, f, from, to)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			fmt.Fprintln(p.Out, text)
			return nil
		}),
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "", "file to write, or to go on with")
	flags.Int64Var(&from, "from", 0, "position of the first entry (default 1, or where the file ends)")
	flags.Int64Var(&to, "to", 0, "position of the last entry (default the newest)")
	return c
}

// exportAudit goes on with an export, and says what the file holds then.
func exportAudit(ctx context.Context, broker *client.Client, f *os.File, from, to int64) (string, error) {
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
	if !open {
		past, err := broker.Retention(ctx)
		if err != nil {
			return "", err
		}
		switch {
		case held.From > 0:
			from = held.To + 1
		case from == 0:
			from = past.Horizon + 1
		}
		if from <= past.Horizon {
			return "", fmt.Errorf("%s: the log begins with entry %d: those before were removed, because retention has them no longer", f.Name(), past.Horizon+1)
		}
		header, err := exportHeader(ctx, broker, from, to)
		if err != nil {
			return "", err
		}
		if header.Size < from {
			return fmt.Sprintf("%s: the log has no entry after %d", f.Name(), header.Size), nil
		}
		if err := w.Begin(header); err != nil {
			return "", fmt.Errorf("the server's answer is not of the entries that were asked for: %w", err)
		}
	}
	if err := exportEntries(ctx, broker, w); err != nil {
		return "", err
	}
	state, err := w.End()
	if err != nil {
		return "", fmt.Errorf("the audit log was changed: %w", err)
	}
	if held, err = rereadExport(f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s holds entries %d to %d; anchor: %s", f.Name(), held.From, held.To, anchorText(state)), nil
}

// rereadExport verifies what was written.
func rereadExport(f *os.File) (*export.Export, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return export.Read(f)
}

// exportHeader asks for what proves the entries from one to another; to of 0 is the newest.
func exportHeader(ctx context.Context, broker *client.Client, from, to int64) (export.Header, error) {
	shown, err := broker.AuditTree(ctx, 0)
	if err != nil {
		return export.Header{}, err
	}
	if to == 0 {
		to = shown.Size
	}
	if to < from {
		return export.Header{Size: shown.Size}, nil
	}
	grown, err := broker.AuditGrowth(ctx, to)
	if err != nil {
		return export.Header{}, err
	}
	if shown, err = broker.AuditTree(ctx, from-1); err != nil {
		return export.Header{}, err
	}
	return export.Header{From: from, To: to, Size: grown.Size, Root: grown.Root, Proof: grown.Proof, Frontier: shown.Frontier}, nil
}

// exportEntries fetches the entries of the open section, and writes them, some thousand at a time.
func exportEntries(ctx context.Context, broker *client.Client, w *export.Writer) error {
	for seq, more := w.Next(); more; seq, more = w.Next() {
		lines, err := broker.AuditLines(ctx, seq-1)
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
		text, err := verifyExport(name, anchor)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.Out, text)
		return nil
	}
	c.Long += `

With --file it verifies an export ("vimbroker audit export") and asks no
server. It prints an anchor of the log that the export is from: compare it with
one that you kept, or give that as --anchor.`
	c.Flags().StringVar(&name, "file", "", "verify this export, without the server")
	return c
}

// verifyExport verifies a file, and says what it holds.
func verifyExport(name, anchor string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	held, err := export.Read(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if !held.Complete() {
		return "", fmt.Errorf("%s: the export was interrupted, and what is there is not proven; go on with: vimbroker audit export --out %s", name, name)
	}
	up, log := anchorText(held.State), anchorText(held.Log)
	if anchor != "" && anchor != up && anchor != log {
		return "", fmt.Errorf("%s: it says nothing about the log of the anchor, but of the logs with the anchors %s and %s", name, up, log)
	}
	return fmt.Sprintf("entries %d to %d verified; anchor: %s", held.From, held.To, up), nil
}
