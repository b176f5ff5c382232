package client_test

import (
	"context"
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

// vimbroker answers as a server does that has two VIMs, with one on a page.
func vimbroker(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", v1.MediaType)
	switch {
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
