// Package tacker serves the VIM API of OpenStack Tacker, /v1.0/vims, as its own
// client (python-tackerclient) speaks it.
//
// It is a second face of the registry: a handler decodes, calls the domain, and
// encodes. What is stored, decided and recorded is what REST version 1 would. An
// update that names a credential or a project reads the VIM first, because what the
// words mean depends on its type, and writes only if it is still the same.
//
// Attributes and messages are those of Tacker's master of May 2026. Status codes are
// those of its API reference; Options.Compat gives those that its server sends. No
// message repeats a part of auth_cred.
package tacker
