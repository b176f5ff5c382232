package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker"
)

// fault translates gophercloud's answer into one of broker's sentinels, in the
// broker's words: none of them holds the remote side's text, cause included. verb
// and what name the request ("create", "application credentials").
func fault(err error, verb, what string) error {
	var (
		own    *broker.Error
		answer gophercloud.ErrUnexpectedResponseCode
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &answer):
		return answered(answer, verb, what)
	}
	return unanswered(err)
}

// unanswered translates a call that ended without an HTTP answer, or with one that
// could not be read.
func unanswered(err error) error {
	if e := broker.Unanswered(err, "Keystone"); e != nil {
		return e
	}
	return notKeystone(0)
}

// answered translates an HTTP answer that is no success.
func answered(a gophercloud.ErrUnexpectedResponseCode, verb, what string) error {
	code := a.Actual
	doing := verb
	if what != "" {
		doing += " " + what
	}
	switch {
	case code == http.StatusTooManyRequests:
		return unreachable("Keystone limits requests (429)", "try again later")
	case code >= http.StatusInternalServerError:
		return unreachable(fmt.Sprintf("Keystone cannot answer now (%d)", code), "try again later")
	case !parsed(a):
		return notKeystone(code)
	case code == http.StatusUnauthorized:
		return &broker.Error{
			Kind: broker.ErrUnauthorized, Detail: "Keystone refuses the credential (401)",
			Remedy: "replace the VIM's credential with one that the cloud knows", Cause: errEnded,
		}
	case code == http.StatusNotFound:
		return &broker.Error{Kind: broker.ErrUnreachable, Detail: notKeystoneDetail(code), Remedy: notKeystoneRemedy, Cause: errEnded}
	case code == http.StatusForbidden:
		return &broker.Error{
			Kind: broker.ErrForbidden, Detail: fmt.Sprintf("the credential may not %s (403)", doing),
			Remedy: "give its user that right on the cloud, or see whether a limit there is reached",
		}
	case code == http.StatusConflict:
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: fmt.Sprintf("the cloud's state does not let us %s (409)", doing),
			Remedy: "try again",
		}
	case code == http.StatusBadRequest:
		return &broker.Error{
			Kind: broker.ErrInvalid, Detail: fmt.Sprintf("Keystone finds the request to %s invalid (400)", doing), Cause: errEnded,
		}
	}
	return notKeystone(code)
}

func unreachable(detail, remedy string) error {
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: detail, Remedy: remedy}
}

const notKeystoneRemedy = "check that the endpoint is Keystone's URL, and what stands in front of it"

// notKeystone is the error of an answer that no Keystone gives; code 0 is not shown.
func notKeystone(code int) error { return unreachable(notKeystoneDetail(code), notKeystoneRemedy) }

func notKeystoneDetail(code int) string {
	if code == 0 {
		return "the endpoint does not answer as Keystone does"
	}
	return fmt.Sprintf("the endpoint does not answer as Keystone does (%d)", code)
}

// parsed reports whether the answer is Keystone's own: an error object that says
// the same code as the status line.
func parsed(a gophercloud.ErrUnexpectedResponseCode) bool {
	var body struct {
		Error struct {
			Code  int    `json:"code"`
			Title string `json:"title"`
		} `json:"error"`
	}
	return json.Unmarshal(a.Body, &body) == nil && body.Error.Code == a.Actual && body.Error.Title != ""
}

// said reports whether err is Keystone's own word with that HTTP code. A page of
// some gateway with the same code is not that.
func said(err error, code int) bool {
	var a gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &a) && a.Actual == code && parsed(a)
}
