package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// toldAtOnce CNFs live at a time, one after the other, for as long as replicas are disturbed.
	toldAtOnce = 2
	// A subscriber takes so long for each notification, and does not take some of the first.
	answersAfter           = 50 * time.Millisecond
	failsEvery, failsUntil = 7, 21
)

// TestNotificationsFromSeveralReplicas kills, and stops, the replica that sends a notification to a slow subscriber that
// fails now and then: another goes on in the order of each instance, nothing is missed or given up, and what comes again
// has the same id and a reason.
func TestNotificationsFromSeveralReplicas(t *testing.T) {
	t.Parallel()
	cluster := real.Kubernetes(t)
	f := newFleetOn(t, shared(t), footing{program: present, settings: "sol003: {enabled: true}\n"})
	c := &cnfs{fleet: f, cluster: cluster, namespace: fmt.Sprintf("told-%d", os.Getpid())}
	cluster.Run(t, "", "create", "namespace", c.namespace)
	vim := c.prepare()
	d := &deliveries{fleet: f}
	first, second := d.subscriber(), d.subscriber()

	var all errgroup.Group
	var enough atomic.Bool
	var lives atomic.Int64
	t.Cleanup(func() { _ = all.Wait() }) // where the test does not get as far
	for range toldAtOnce {
		all.Go(func() error {
			for !enough.Load() {
				if err := c.life(t.Context(), vim); err != nil {
					if t.Context().Err() == nil { // what waits for a notification would be blamed: none comes any more
						t.Errorf("a CNF's life: %v", err)
					}
					return err
				}
				lives.Add(1)
			}
			return nil
		})
	}
	first.disturb(kill)
	second.disturb(pause)
	first.disturb(kill)
	enough.Store(true)
	if all.Wait() != nil {
		t.FailNow()
	}
	ids := map[string]string{}
	for _, s := range d.subscribers {
		s.prove(ids, lives.Load())
	}
	f.proveAudit()
}

// deliveries are the notifications that the fleet sends.
type deliveries struct {
	*fleet
	subscribers []*subscriber
	// mu guards all that subscribers were told, and senders, the replicas by the ids of their processes.
	mu      sync.Mutex
	senders map[int]*replica
	// paused are the processes that are stopped.
	paused map[int]bool
}

// subscriber is told of everything.
type subscriber struct {
	*deliveries
	*httptest.Server
	id   string
	told []*telling
	// woken are the processes that were stopped, and have sent nothing since.
	woken map[int]bool
	// disturbing is done while a notification is not answered.
	disturbing chan func(*telling)
}

// telling is one time that a notification came.
type telling struct {
	sol003.Notification
	came time.Time
	// pid is the process that sent it; 0 where that has ended.
	pid int
	// failed is set where it was not taken, disturbed where the process was killed or stopped before it can have noted
	// that, late where the process was stopped before it sent it, and slow where its answer took so long that the sender may
	// have given up.
	failed, disturbed, late, slow bool
}

// tardy reports whether its answer takes so long that the sender may have given up.
func (n *telling) tardy() bool { return time.Since(n.came) > subscription.DefaultTerms().SendTime/2 }

// what is told, in words that are the same for each instance.
func (n *telling) what() string {
	if n.Own == nil {
		return n.Type
	}
	return fmt.Sprintf("%s-%d-%s", n.Operation, n.Own.Number, n.State)
}

func (d *deliveries) subscriber() *subscriber {
	d.t.Helper()
	d.noteSenders()
	s := &subscriber{deliveries: d, disturbing: make(chan func(*telling)), woken: map[int]bool{}}
	s.Server = httptest.NewServer(s)
	d.t.Cleanup(s.Close)
	var err error
	if s.id, _, err = d.replicas[0].Subscribe(d.t.Context(), sol003.SubscriptionRequest{CallbackURI: s.URL}); err != nil {
		d.t.Fatal(err)
	}
	d.subscribers = append(d.subscribers, s)
	return s
}

func (d *deliveries) noteSenders() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.senders, d.paused = map[int]*replica{}, map[int]bool{}
	for _, r := range d.replicas {
		d.senders[r.broker.PID()] = r
	}
}

func (s *subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	n := &telling{came: time.Now()}
	if err := json.NewDecoder(r.Body).Decode(&n.Notification); err != nil {
		s.t.Errorf("a notification cannot be read: %v", err)
	}
	s.note(n, r.RemoteAddr)
	if n.failed {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	select {
	case disturb := <-s.disturbing:
		disturb(n)
	case <-time.After(answersAfter):
	}
	s.mu.Lock()
	n.slow = n.tardy()
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (s *subscriber) note(n *telling, from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.pid = s.sender(from, s.Listener.Addr().String())
	n.disturbed = n.pid == 0 || s.paused[n.pid]
	if n.late = s.woken[n.pid] && !s.paused[n.pid]; n.late {
		delete(s.woken, n.pid)
	}
	s.told = append(s.told, n)
	n.failed = len(s.told)%failsEvery == 0 && len(s.told) <= failsUntil
}

// sender is the process of a replica that has a connection, by both its ends: connections to other servers may have the same
// port. It is 0 where the process has ended. The caller holds the lock.
func (d *deliveries) sender(near, far string) int {
	from, err := net.ResolveTCPAddr("tcp4", near)
	server, err2 := net.ResolveTCPAddr("tcp4", far)
	if err := errors.Join(err, err2); err != nil {
		d.t.Error(err)
		return 0
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		d.t.Error(err)
		return 0
	}
	for line := range strings.Lines(string(table)) {
		// The second column is the local address in hexadecimal digits, the third the other end, the tenth the inode.
		columns := strings.Fields(line)
		if !strings.HasSuffix(columns[1], fmt.Sprintf(":%04X", from.Port)) || !strings.HasSuffix(columns[2], fmt.Sprintf(":%04X", server.Port)) {
			continue
		}
		for pid := range d.senders {
			open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
			for _, fd := range open {
				if to, err := os.Readlink(fd); err == nil && to == "socket:["+columns[9]+"]" {
					return pid
				}
			}
		}
	}
	return 0
}

// kill ends a replica, and returns what starts it again.
func kill(r *replica) (func(), error) {
	r.broker.Kill()
	return r.start, nil
}

// pause stops a replica in its tracks, and returns what lets it go on.
func pause(r *replica) (func(), error) {
	return func() { r.signal(syscall.SIGCONT) }, r.broker.Pause()
}

// disturb does something to the replica whose notification is not answered yet, and undoes it once another has sent that
// one again, and some more.
func (s *subscriber) disturb(do func(*replica) (func(), error)) {
	s.t.Helper()
	var sent *telling
	var undo func()
	done := make(chan error)
	disturb := func(n *telling) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.senders[n.pid]
		if r == nil || n.tardy() { // it has closed its connection, as it was overtaken or gave up, or may do so now
			done <- nil
			return
		}
		var err error
		sent = n
		undo, err = do(r)
		s.disturbed(n.pid)
		done <- err
	}
	for late := time.After(patience); sent == nil; {
		select {
		case s.disturbing <- disturb:
		case <-late:
			s.t.Fatal("no notification comes")
		}
		if err := <-done; err != nil {
			s.t.Fatal(err)
		}
	}
	eventually(s.t, "another replica sends on", func(context.Context) error { return s.goesOn(sent, 3) })
	s.mu.Lock()
	for _, one := range s.subscribers {
		if s.paused[sent.pid] {
			one.woken[sent.pid] = true
		}
	}
	s.mu.Unlock()
	undo()
	s.noteSenders()
}

// disturbed notes what a process sent last: whether that was taken it may not have noted. The caller holds the lock.
func (d *deliveries) disturbed(pid int) {
	d.paused[pid] = true
	for _, s := range d.subscribers {
		for _, n := range slices.Backward(s.told) {
			if n.pid == pid {
				n.disturbed = true
				break
			}
		}
	}
}

// goesOn is an error until others than its sender have sent a notification again, and so many after it.
func (s *subscriber) goesOn(sent *telling, more int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := slices.DeleteFunc(slices.Clone(s.told[slices.Index(s.told, sent)+1:]), func(n *telling) bool { return n.pid == sent.pid })
	if len(after) <= more {
		return fmt.Errorf("%d came", len(after))
	}
	if after[0].ID != sent.ID {
		return fmt.Errorf("%s of %s came after %s of %s", after[0].what(), after[0].InstanceID, sent.what(), sent.InstanceID)
	}
	return nil
}

// prove holds what the subscriber was told against what so many instances went through. ids are those of what another was told.
func (s *subscriber) prove(ids map[string]string, want int64) {
	s.t.Helper()
	var own *sol003.SubscriptionDetail
	eventually(s.t, "nothing waits", func(ctx context.Context) error {
		shown, err := s.replicas[0].Subscription(ctx, s.id)
		if own = shown.Own; err == nil && own.Waiting > 0 {
			err = fmt.Errorf("%d do", own.Waiting)
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	last, stories := map[string]*telling{}, map[string]string{}
	repeats := 0
	for at, n := range s.told {
		before := last[n.ID]
		last[n.ID] = n
		if before != nil {
			if repeats++; !before.failed && !before.disturbed && !before.slow && !n.late {
				s.t.Errorf("notification %d, %s of %s from %d, has come before, from %d, and was taken", at, n.what(), n.InstanceID, n.pid, before.pid)
			}
			continue
		}
		stories[n.InstanceID] += n.what() + " "
		about := n.InstanceID + n.OperationID + n.what()
		if ids[about] == "" {
			ids[about] = n.ID
		}
		if ids[about] != n.ID {
			s.t.Errorf("%s of %s came with the ids %s and %s", n.what(), n.InstanceID, ids[about], n.ID)
		}
	}
	const whole = "VnfIdentifierCreationNotification INSTANTIATE-1-STARTING INSTANTIATE-2-PROCESSING INSTANTIATE-3-COMPLETED " +
		"TERMINATE-1-STARTING TERMINATE-2-PROCESSING TERMINATE-3-COMPLETED VnfIdentifierDeletionNotification "
	lives := int64(0)
	for id, story := range stories {
		switch story {
		case whole:
			lives++
		case "VnfIdentifierCreationNotification ": // the answer to the request was lost
		default:
			s.t.Errorf("of instance %s came %s", id, story)
		}
	}
	if lives != want {
		s.t.Errorf("%d lives came, want %d", lives, want)
	}
	if own.GivenUp > 0 || own.Failures > 0 || own.Delivered != int64(len(last)) {
		s.t.Errorf("of %d notifications the subscription counts %+v", len(last), own)
	}
	s.t.Logf("%d notifications came, %d of them again", len(last), repeats)
}
