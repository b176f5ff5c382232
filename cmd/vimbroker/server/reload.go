package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// outcomeFile stands in the data directory: how the server's last reload went.
const outcomeFile = "last-reload.json"

// outcome is the outcome of a reload.
type outcome struct {
	// ID is another one each time.
	ID string `json:"id"`
	// Fault is the reason why nothing was taken; empty if the file has no fault.
	Fault string `json:"fault,omitempty"`
	// Policies is the hash of those in use now.
	Policies string `json:"policies"`
	// Taken are the keys that changed and hold now; Restart are those that need a restart;
	// Refused are the values that were tried and do not work.
	Taken   []string `json:"taken,omitempty"`
	Restart []string `json:"restart,omitempty"`
	Refused []string `json:"refused,omitempty"`
}

// tell writes how a reload went, for "vimbroker reload". That it cannot keeps nothing from
// working: the log says the same.
func (o outcome) tell(dir string, log *slog.Logger) {
	o.ID = uuid.NewString()
	text, err := json.Marshal(o)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		var f *files.NewFile
		if f, err = files.CreateFile(filepath.Join(dir, outcomeFile), true); err == nil {
			err = f.Commit(text)
		}
	}
	if err != nil {
		log.Warn("how the reload went is in no file, so that the command reload waits for it in vain", "error", err)
	}
}

// told is the server's report on its last reload, or empty.
func told(dir string) (o outcome, err error) {
	text, err := os.ReadFile(filepath.Join(dir, outcomeFile))
	if errors.Is(err, os.ErrNotExist) {
		return outcome{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

const (
	// reloadPatience is the time that a reload may take: it tries a login to the database.
	reloadPatience = time.Minute
	// reloadLook is the interval at which its outcome is polled.
	reloadLook = 50 * time.Millisecond
)

func (p *program) reloadCommand() *cobra.Command {
	var f serveFlags
	var pid int
	c := &cobra.Command{
		Use:   "reload --config FILE --pid PID",
		Short: "Have the server read its configuration again",
		Long: `Check a server's configuration file, have the server read it again, and say
what it took. It runs on the server's machine and as its user, which
"systemctl reload vimbroker" sees to.

A file with a fault is not shown to the server, which keeps what it has. It
fails too where a key changed that needs a restart, and names it: what can be
exchanged has taken effect then.`,
		Example: `  vimbroker reload --config vimbroker.yaml --pid $(pidof vimbroker)`,
		Args:    console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.configFile == "" || pid <= 0 {
				return console.Usagef(c, "--config and --pid are required: the server's configuration file, and its process")
			}
			made, err := f.config(c, p.Env)
			if err != nil {
				return err
			}
			o, err := p.reload(c.Context(), made.DataDir, pid)
			if err != nil {
				return err
			}
			return o.say(p)
		},
	}
	c.Flags().StringVar(&f.configFile, "config", "", "the server's configuration file")
	c.Flags().IntVar(&pid, "pid", 0, "the server's process")
	return c
}

// reload signals the server, and waits until it has told how that went.
func (p *program) reload(ctx context.Context, dir string, pid int) (outcome, error) {
	before, err := told(dir)
	if err != nil {
		return outcome{}, err
	}
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		return outcome{}, fmt.Errorf("asking process %d to reload: %w; --pid must name the server, and this command must run as its user", pid,
			err)
	}
	ctx, cancel := context.WithTimeout(ctx, reloadPatience)
	defer cancel()
	for {
		now, err := told(dir)
		if err != nil || now.ID != before.ID {
			return now, err
		}
		select {
		case <-ctx.Done():
			return outcome{}, fmt.Errorf("the server has not told in %s within %s how its reload went; its log says more", dir, reloadPatience)
		case <-p.After(reloadLook):
		}
	}
}

// say prints the keys that were taken; the others are the error.
func (o outcome) say(p *program) error {
	if o.Fault != "" {
		return fmt.Errorf("the server found faults and keeps the configuration that it has: %s", o.Fault)
	}
	changed := "nothing that can be exchanged has changed"
	if len(o.Taken) > 0 {
		changed = "changed and in effect: " + strings.Join(o.Taken, ", ")
	}
	var left []string
	if _, err := fmt.Fprintf(p.Out, "reloaded; %s; policies %s\n", changed, o.Policies); err != nil {
		left = append(left, err.Error())
	}
	if len(o.Restart) > 0 {
		left = append(left, "changed and in effect only after a restart: "+strings.Join(o.Restart, ", "))
	}
	if len(o.Refused) > 0 {
		left = append(left, "does not work, so that what was before stays in use: "+strings.Join(o.Refused, ", ")+"; the server's log says why")
	}
	if len(left) > 0 {
		return errors.New(strings.Join(left, "; "))
	}
	return nil
}
