package notary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// Anchor is a place outside of the database that keeps checkpoints: a log that was rewritten since
// differs from them.
type Anchor struct {
	// Name is the anchor's key in the store. It is unique.
	Name   string
	Outlet delivery.Outlet
}

// Anchoring says how far an anchor has come.
type Anchoring struct {
	Anchor string
	// Size is that of the last checkpoint that it has, and Time when it got it.
	Size int64
	Time time.Time
}

// AnchorStore keeps how far anchors have come.
type AnchorStore interface {
	// Anchorings returns one for each anchor that ever got a checkpoint.
	Anchorings(ctx context.Context) ([]Anchoring, error)
	// SetAnchoring stores one, unless one of a larger size is there.
	SetAnchoring(ctx context.Context, a Anchoring) error
}

// anchored is a checkpoint as a line of JSON.
type anchored struct {
	Time       time.Time `json:"time"`
	Size       int64     `json:"size"`
	Root       []byte    `json:"root"`
	Checkpoint string    `json:"checkpoint"`
}

// Anchor sends the last checkpoint to every anchor that does not have it, in parallel. An anchor that
// missed some gets the last one only: it covers the earlier ones. The error names the anchors that
// failed; the next call retries them.
func (n *Notary) Anchor(ctx context.Context) error {
	last, err := n.last(ctx)
	if err != nil || last.Size == 0 || len(n.anchors) == 0 {
		return err
	}
	known, err := n.anchorings(ctx)
	if err != nil {
		return err
	}
	line, err := json.Marshal(anchored{last.Time, last.Size, last.Root[:], last.Note})
	if err != nil {
		return err
	}
	faults := make([]error, len(n.anchors))
	var all sync.WaitGroup
	for i, a := range n.anchors {
		if known[a.Name].Size >= last.Size {
			continue
		}
		all.Go(func() {
			err := a.Outlet.Send(ctx, [][]byte{line})
			if err == nil {
				failpoint.At("audit.anchored")
				err = n.store.SetAnchoring(ctx, Anchoring{a.Name, last.Size, n.now()})
			}
			if err != nil {
				faults[i] = fmt.Errorf("anchor %s: %w", a.Name, err)
			}
		})
	}
	all.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, a := range n.anchors {
		delete(n.faults, a.Name)
		if faults[i] != nil {
			n.faults[a.Name] = faults[i].Error()
		}
	}
	return errors.Join(faults...)
}

// AnchorStatus is the present state of an anchor.
type AnchorStatus struct {
	Anchoring
	// Behind is how many entries it does not cover that a checkpoint does.
	Behind int64
	// Fault is why the last attempt of this process failed; empty if it did not.
	Fault string
}

// AnchorStatuses says how far each anchor has come.
func (n *Notary) AnchorStatuses(ctx context.Context) ([]AnchorStatus, error) {
	if len(n.anchors) == 0 {
		return nil, nil
	}
	known, err := n.anchorings(ctx)
	if err != nil {
		return nil, err
	}
	last, err := n.last(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []AnchorStatus
	for _, a := range n.anchors {
		s := AnchorStatus{Anchoring: known[a.Name], Fault: n.faults[a.Name]}
		s.Anchor, s.Behind = a.Name, max(0, last.Size-s.Size)
		all = append(all, s)
	}
	return all, nil
}

// Anchored is how many entries a signed checkpoint covers that every anchor has; where there are no
// anchors, the last that was signed. By is the anchor that keeps it from being more.
func (n *Notary) Anchored(ctx context.Context) (size int64, by string, err error) {
	last, err := n.last(ctx)
	if err != nil {
		return 0, "", err
	}
	known, err := n.anchorings(ctx)
	size = last.Size
	for _, a := range n.anchors {
		if known[a.Name].Size < size {
			size, by = known[a.Name].Size, a.Name
		}
	}
	return size, by, err
}

// Anchors reports whether there are any.
func (n *Notary) Anchors() bool { return len(n.anchors) > 0 }

func (n *Notary) anchorings(ctx context.Context) (map[string]Anchoring, error) {
	all, err := n.store.Anchorings(ctx)
	known := map[string]Anchoring{}
	for _, a := range all {
		known[a.Anchor] = a
	}
	return known, err
}
