// Package tacker serves the VIM API of OpenStack Tacker, /v1.0/vims, as its own
// client (python-tackerclient) speaks it.
//
// It is a door of package api: a handler decodes, calls the domain, and encodes. It
// stores, decides and records the same as REST version 1. An update with a credential or
// a project reads the VIM first, because the meaning of both depends on its type, and
// writes only if the VIM has not changed since.
//
// Attributes and messages are those of Tacker's master of May 2026. Status codes are
// those of its API reference; Options.Compat gives those that its server sends. No
// message repeats a part of auth_cred.
//
// Bodies are read and written with package codec, and extra is rewritten with the same
// library (github.com/go-json-experiment/json), so that both agree on what JSON is.
package tacker
