package limit

import "container/list"

// recent remembers the keys that were used last. A key that is held is never forgotten, so
// there may be more than most while so many are held. It is not safe for concurrent use.
type recent[T any] struct {
	most  int
	known map[string]*held[T]
	idle  *list.List // the keys not in use, the longest unused first
}

// held is one key.
type held[T any] struct {
	value   T
	key     string
	holders int
	idle    *list.Element // nil while it is held
}

func newRecent[T any](most int) recent[T] {
	return recent[T]{most: most, known: map[string]*held[T]{}, idle: list.New()}
}

// hold returns the remembered state of a key; made says that it was not known. Release it.
func (r *recent[T]) hold(key string) (h *held[T], made bool) {
	h = r.known[key]
	if made = h == nil; made {
		h = &held[T]{key: key}
		r.known[key] = h
	}
	if h.idle != nil {
		r.idle.Remove(h.idle)
		h.idle = nil
	}
	h.holders++
	return h, made
}

// release forgets the keys that were unused the longest, if there are too many.
func (r *recent[T]) release(h *held[T]) {
	h.holders--
	if h.holders > 0 {
		return
	}
	h.idle = r.idle.PushBack(h)
	for len(r.known) > r.most && r.idle.Len() > 0 {
		oldest := r.idle.Front()
		delete(r.known, r.idle.Remove(oldest).(*held[T]).key)
	}
}
