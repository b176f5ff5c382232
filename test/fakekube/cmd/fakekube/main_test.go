package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/fakekube"
)

func TestRunAnnouncesItselfAndIsControlled(t *testing.T) {
	out, announce := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- run(ctx, nil, announce) }()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var r ready
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	if pem, err := os.ReadFile(r.CA); err != nil || string(pem) != r.CACert {
		t.Errorf("CA file = %q, %v", pem, err)
	}
	get := func(path string, into any) {
		t.Helper()
		res, err := http.Get(r.Control + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			t.Fatalf("GET %s: %s: %v", path, res.Status, err)
		}
	}
	var names []string
	if get("/names?resource=namespaces", &names); !slices.Contains(names, "kube-system") {
		t.Errorf("namespaces = %v", names)
	}
	var tokens []fakekube.Token
	if get("/tokens", &tokens); len(tokens) != 1 {
		t.Errorf("tokens = %v, want the administrator's", tokens)
	}
	for body, want := range map[string]int{
		`{"kind":"refuse","status":503}`: http.StatusOK,
		`{"kind":"refuse","status":200}`: http.StatusBadRequest,
		`{"path":"("}`:                   http.StatusBadRequest,
		`{"pth":""}`:                     http.StatusBadRequest,
	} {
		res, err := http.Post(r.Control+"/faults", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("POST /faults %s: %d, want %d", body, res.StatusCode, want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
	if _, err := os.Stat(r.CA); !os.IsNotExist(err) {
		t.Errorf("CA file after the end: %v, want it gone", err)
	}
}
