package broker

import (
	"context"
	"errors"
	"sync"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// session opens the generations of one VIM for a flow over its leases. It reads the
// row once, and opens each generation at most once. close clears their keys.
type session struct {
	b  *Leaser
	id string

	mu    sync.Mutex
	row   *VIM
	open  map[int64]*opened
	tried map[int64]func() (bool, error)
}

func (b *Leaser) newSession(vim string) *session {
	return &session{b: b, id: vim, open: map[int64]*opened{}, tried: map[int64]func() (bool, error){}}
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		o.close()
	}
	s.open = map[int64]*opened{}
}

func (s *session) vim(ctx context.Context) (VIM, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row == nil {
		v, err := s.b.vims.VIM(ctx, s.id)
		if err != nil {
			return VIM{}, err
		}
		s.row = &v
	}
	return *s.row, nil
}

// place adds the lease's VIM to the act's entries, if the VIM can be read.
func (s *session) place(ctx context.Context, l Lease, act *audit.Act) {
	if v, err := s.vim(ctx); err == nil {
		act.About(v.leased(l))
	}
}

func (s *session) opened(ctx context.Context, g Generation) (*opened, error) {
	v, err := s.vim(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[g.Number]; o != nil {
		return o, nil
	}
	o, err := s.b.open(ctx, v, g)
	if err == nil {
		s.open[g.Number] = o
	}
	return o, err
}

// pinned opens the generation that a lease is pinned to.
func (s *session) pinned(ctx context.Context, l Lease) (*opened, error) {
	v, err := s.vim(ctx)
	if err != nil {
		return nil, err
	}
	g, ok := v.generation(l.VIMGeneration)
	if !ok {
		return nil, &Error{Kind: ErrConflict, Detail: "the lease has ended", Remedy: "issue another"}
	}
	return s.opened(ctx, g)
}

// dead tries the stored credential of a generation once, however many leases have it: a VIM may lock a user out
// whose old password is tried often.
func (s *session) dead(number int64, try func() (bool, error)) (bool, error) {
	s.mu.Lock()
	once := s.tried[number]
	if once == nil {
		once = sync.OnceValues(try)
		s.tried[number] = once
	}
	s.mu.Unlock()
	return once()
}

// each calls do with access to one generation of the VIM. If the VIM refuses that
// generation's credential, the credential does not open, or no server that it trusts
// answers where it leads and the current generation leads elsewhere, it calls do again
// with the current generation, provided that it has the same identity. Each call is bounded. It returns the generation that
// was used last.
func (s *session) each(ctx context.Context, number int64, do func(context.Context, *opened) error) (Generation, error) {
	v, err := s.vim(ctx)
	if err != nil {
		return Generation{}, err
	}
	pinned, ok := v.generation(number)
	if !ok {
		return Generation{}, &Error{Kind: ErrUnopenable, Detail: "the generation of the VIM that the lease is pinned to is gone"}
	}
	o, err := s.opened(ctx, pinned)
	bounded := func(o *opened) error {
		ctx, cancel := s.b.call(ctx)
		defer cancel()
		return do(ctx, o)
	}
	if err == nil {
		err = bounded(o)
	}
	if !v.movedFrom(pinned, err) && (!refused(err) || number == v.Current.Number || pinned.Identity != v.Current.Identity) {
		return pinned, err
	}
	if o, err = s.opened(ctx, v.Current); err != nil {
		return v.Current, err
	}
	instead := *o
	instead.InsteadOf = &pinned.Discovered
	return v.Current, bounded(&instead)
}

// refused reports whether the call may succeed with another credential.
func refused(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrUnopenable)
}

// vouched is the word of the VIM's owner as it is now, from the generation that it is sealed with.
func (s *session) vouched(ctx context.Context) (Vouched, error) {
	v, err := s.vim(ctx)
	if err != nil {
		return Vouched{}, err
	}
	o, err := s.opened(ctx, v.Current)
	if err != nil {
		return Vouched{}, err
	}
	return o.Target.Vouched, nil
}
