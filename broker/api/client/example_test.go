package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// A client lists the VIMs, page by page, and branches on what the server refuses.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(vimbroker))
	defer server.Close()
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText("the-caller's-token")})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for vim, err := range c.AllVIMs(ctx, client.VIMQuery{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(vim.Name, "is a VIM of type", vim.Type)
	}
	_, err = c.IssueLease(ctx, v1.LeaseRequest{VIM: "west", Role: "view", TTL: "1h"}, "a-key-to-try-again-with")
	if client.Status(err) == http.StatusNotFound {
		fmt.Println("there is no such VIM")
	}
	// Output:
	// edge is a VIM of type kubernetes
	// core is a VIM of type openstack
	// there is no such VIM
}

// A lease is a credential for an hour: it is written to a file, renewed in time, and revoked when the work is done.
func ExampleClient_IssueLease() {
	server := httptest.NewServer(http.HandlerFunc(vimbroker))
	defer server.Close()
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText("the-caller's-token")})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	wish := v1.LeaseRequest{VIM: "edge", Role: "view", Namespaces: []string{"web"}, TTL: "1h", Purpose: "a report"}
	lease, err := c.IssueLease(ctx, wish, "report-of-monday") // asked again under this key, it is the same lease
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the kubeconfig prints as", lease.ClientConfig.Text)
	fmt.Println("and has", len(lease.ClientConfig.Text.Reveal()), "bytes")
	ended, err := c.RevokeLease(ctx, lease.ID)
	fmt.Println("it is", ended.State, err)
	// Output:
	// the kubeconfig prints as [secret]
	// and has 15 bytes
	// it is revoked <nil>
}

// A refusal says what is wrong, in which field, and what to do about it.
func ExampleProblem() {
	server := httptest.NewServer(http.HandlerFunc(vimbroker))
	defer server.Close()
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText("the-caller's-token")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.VIM(context.Background(), "west")
	if problem, is := errors.AsType[*client.Problem](err); is {
		fmt.Println(problem.Type)
		fmt.Println(problem.Detail)
		fmt.Println(problem.Remedy)
	}
	// Output:
	// urn:vimbroker:problem:not-found
	// no such VIM
	// GET /v1/vims lists the VIMs that there are
}

// A program that is registered ("vimbroker client create") logs in by itself, and again when its token ends.
func ExampleLogin() {
	server := httptest.NewServer(http.HandlerFunc(vimbroker))
	defer server.Close()
	c, err := client.New(client.Options{
		Addr:  server.URL,
		Login: &client.Login{ID: "8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11", Secret: secret.NewText("its-secret")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	me, err := c.WhoAmI(context.Background())
	fmt.Println(me.Name, err)
	// Output: client:8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11 <nil>
}

// vimbroker answers as a server does that has two VIMs, with one on a page.
func vimbroker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", v1.MediaType)
	switch {
	case r.URL.Path == "/oauth2/token":
		_, _ = io.WriteString(w, `{"access_token": "five-minutes", "token_type": "Bearer", "expires_in": 300}`)
	case r.URL.Path == "/v1/whoami":
		_, _ = io.WriteString(w, `{"name": "client:8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11", "project": "acme", "roles": ["vnfm"]}`)
	case r.Header.Get("Idempotency-Key") == "report-of-monday":
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id": "0b9d6c1e", "state": "active", "clientConfig": "apiVersion: v1\n"}`)
	case r.Method == http.MethodDelete:
		_, _ = io.WriteString(w, `{"id": "0b9d6c1e", "state": "revoked"}`)
	case r.URL.Path == "/v1/vims/west":
		w.Header().Set("Content-Type", v1.ProblemType)
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"type": "urn:vimbroker:problem:not-found", "status": 404, "title": "not found", "detail": "no such VIM",
			"remedy": "GET /v1/vims lists the VIMs that there are"}`)
	case r.Method == http.MethodPost:
		w.Header().Set("Content-Type", v1.ProblemType)
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"status": 404, "title": "Not Found", "detail": "VIM not found"}`)
	case r.URL.Query().Get("pageToken") == "":
		_, _ = io.WriteString(w, `{"items": [{"name": "edge", "type": "kubernetes"}], "nextPageToken": "two"}`)
	default:
		_, _ = io.WriteString(w, `{"items": [{"name": "core", "type": "openstack"}]}`)
	}
}
