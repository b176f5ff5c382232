package outlet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Events posts what becomes of the VIMs of clusters, as CloudEvents in a batch (the
// CloudEvents HTTP protocol binding 1.0, clause 3.3). It takes the lines of the audit log,
// and drops those that are no such events: an event is as durable, and as often repeated,
// as its entry is delivered. Its id is the entry's leaf in the tree of the log, the same each time.
type Events struct{ to *Webhook }

// NewEvents returns an outlet to a webhook that takes CloudEvents.
func NewEvents(o WebhookOptions) (*Events, error) {
	w, err := NewWebhook(o)
	if err != nil {
		return nil, err
	}
	w.media = "application/cloudevents-batch+json; charset=UTF-8"
	return &Events{w}, nil
}

// Close closes connections.
func (e *Events) Close() error { return e.to.Close() }

// Send posts the events that lines tell of; nothing if they tell of none.
func (e *Events) Send(ctx context.Context, lines [][]byte) error {
	var batch [][]byte
	for _, line := range lines {
		entry, err := audit.ParseLine(line)
		if err != nil {
			return err
		}
		told, ok := onboard.EventOf(entry)
		if !ok {
			continue
		}
		text, err := cloudEvent(tree.Leaf(line), entry, told)
		if err != nil {
			return fmt.Errorf("making an event of audit entry %d: %w", entry.Seq, err)
		}
		batch = append(batch, text)
	}
	if len(batch) == 0 {
		return nil
	}
	return e.to.Send(ctx, batch)
}

func cloudEvent(leaf tree.Hash, entry audit.Entry, told onboard.ClusterEvent) ([]byte, error) {
	e := event.New(event.CloudEventsVersionV1)
	e.SetID(hex.EncodeToString(leaf[:]))
	e.SetType(string(told.Kind))
	e.SetSource("/v1/management-clusters/" + told.ManagementCluster)
	e.SetSubject(told.Cluster)
	e.SetTime(entry.Time)
	if err := e.SetData(event.ApplicationJSON, told); err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(e)
}
