package broker

import (
	"context"
	"errors"
	"time"
)

// learnPause is the first wait of [Learnt]; each further one is twice as long, up to a second.
const learnPause = 10 * time.Millisecond

// Learnt calls do, which uses a lease that was only just issued, and again for at most that long while the VIM refuses it
// ([ErrForbidden]): its authoriser learns of a new role a moment after it was made. It returns what do returned last.
func Learnt(ctx context.Context, most time.Duration, do func() error) error {
	began := time.Now()
	for pause := learnPause; ; pause = min(2*pause, time.Second) {
		err := do()
		if !errors.Is(err, ErrForbidden) || time.Since(began)+pause > most {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}
