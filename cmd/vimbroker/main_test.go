package main

import (
	"context"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// asProgram makes the test binary be vimbroker, for tests that need a process.
const asProgram = "VIMBROKER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asPlainUser) != "" {
		becomePlainUser()
	}
	if os.Getenv(asThief) != "" {
		steal()
	}
	if os.Getenv(asProgram) != "" {
		main()
	}
	story.HeedSignals()
	os.Exit(m.Run())
}

// served is a server in this process.
type served struct {
	log *process.Log
	// stop ends the server, which must end well. It may be called twice.
	stop func()
}

// serve runs a server until the test ends, and returns when it is ready.
func serve(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s, ended := &served{log: process.NewLog(io.Discard)}, make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve"}, args...), nil, io.Discard, s.log, env)
		s.log.End()
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("serve ended with %d: %s", code, s.log)
		}
	})
	t.Cleanup(s.stop)
	s.await(t, `"msg":"ready"`, `"msg":"serving, and not ready yet"`)
	return s
}

// await returns the next line of the log with one of these texts.
func (s *served) await(t *testing.T, texts ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), process.Patience)
	defer cancel()
	line, err := s.log.Next(ctx, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return line
}
