package keystone_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/drivers/keystone"
)

// TestALoginIsGivenInOneWay: each of these has one fault, or none.
func TestALoginIsGivenInOneWay(t *testing.T) {
	type password = keystone.Password
	app := &keystone.ApplicationCredential{ID: "i", SecretFile: "f"}
	const user, project = "user's id", "project's id"
	for _, c := range []struct {
		auth keystone.Auth
		want string
	}{
		{keystone.Auth{}, "give either"},
		{keystone.Auth{ApplicationCredential: app, Password: &password{UserID: "u", ProjectID: "p", PasswordFile: "f"}}, "give either"},
		{keystone.Auth{ApplicationCredential: app}, ""},
		{keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{SecretFile: "f"}}, "needs its id"},
		{keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: "i"}}, "file of its secret"},
		{keystone.Auth{Password: &password{UserID: "u", ProjectID: "p"}}, "file of the password"},
		{keystone.Auth{Password: &password{UserID: "u", ProjectID: "p", PasswordFile: "f"}}, ""},
		{keystone.Auth{Password: &password{Username: "u", UserDomainID: "d", Project: "p", ProjectDomainID: "d", PasswordFile: "f"}}, ""},
		{keystone.Auth{Password: &password{ProjectID: "p", PasswordFile: "f"}}, user},
		{keystone.Auth{Password: &password{Username: "u", ProjectID: "p", PasswordFile: "f"}}, user},
		{keystone.Auth{Password: &password{UserDomainID: "d", ProjectID: "p", PasswordFile: "f"}}, user},
		{keystone.Auth{Password: &password{UserID: "u", Username: "u", ProjectID: "p", PasswordFile: "f"}}, user},
		{keystone.Auth{Password: &password{UserID: "u", UserDomainID: "d", ProjectID: "p", PasswordFile: "f"}}, user},
		{keystone.Auth{Password: &password{UserID: "u", PasswordFile: "f"}}, project},
		{keystone.Auth{Password: &password{UserID: "u", Project: "p", PasswordFile: "f"}}, project},
		{keystone.Auth{Password: &password{UserID: "u", ProjectID: "p", ProjectDomainID: "d", PasswordFile: "f"}}, project},
	} {
		flaws := c.auth.Flaws()
		if n := map[bool]int{true: 0, false: 1}[c.want == ""]; len(flaws) != n || n == 1 && !strings.Contains(flaws[0].Error(), c.want) {
			t.Errorf("%+v %+v: %v, want %q", c.auth.ApplicationCredential, c.auth.Password, flaws, c.want)
		}
	}
}

// TestTheSecretIsThatOfTheWay, without white space around it.
func TestTheSecretIsThatOfTheWay(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"app": " secret\n", "password": "word", "blank": " \n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app := func(name string) keystone.Auth {
		return keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: "i", SecretFile: filepath.Join(dir, name)}}
	}
	password := keystone.Auth{Password: &keystone.Password{
		UserID: "u", Username: "n", UserDomainID: "d", ProjectID: "p", Project: "q", ProjectDomainID: "e", PasswordFile: filepath.Join(dir, "password"),
	}}
	for _, c := range []struct {
		auth       keystone.Auth
		want, fail string
		options    gophercloud.AuthOptions
	}{
		{auth: app("app"), want: "secret", options: gophercloud.AuthOptions{ApplicationCredentialID: "i", ApplicationCredentialSecret: "secret"}},
		{auth: password, want: "word", options: gophercloud.AuthOptions{
			UserID: "u", Username: "n", DomainID: "d", Password: "word", Scope: &gophercloud.AuthScope{ProjectID: "p", ProjectName: "q", DomainID: "e"},
		}},
		{auth: app("none"), fail: "cannot be read"},
		{auth: app("blank"), fail: "is empty"},
	} {
		text, err := c.auth.Secret()
		if string(text) != c.want || (err == nil) != (c.fail == "") || err != nil && !strings.HasSuffix(err.Error(), c.fail) || errors.Is(err, os.ErrNotExist) {
			t.Errorf("Secret = %q, %v; want %q, %q", text, err, c.want, c.fail)
		}
		if c.fail == "" {
			if diff := cmp.Diff(c.options, *c.auth.Options(string(text))); diff != "" {
				t.Errorf("the options (-want +got):\n%s", diff)
			}
		}
	}
}

// TestAnAddressHasSchemeHostPortAndPath: each of these has one part too many, or none.
func TestAnAddressHasSchemeHostPortAndPath(t *testing.T) {
	const form, only, scheme = "! must be a URL", "! must be scheme", "! must be https"
	for text, want := range map[string]string{
		"https://cloud.example:5000":          "https://cloud.example:5000/v3/",
		"https://cloud.example/identity//":    "https://cloud.example/identity/v3/",
		"https://cloud.example/identity/v3/":  "https://cloud.example/identity/v3/",
		"https://cloud.example/identity/v3.1": "https://cloud.example/identity/v3.1/v3/",
		"http://127.0.0.1:5000/v3":            "http://127.0.0.1:5000/v3/",
		"http://cloud.example":                scheme,
		"ftp://127.0.0.1":                     scheme,
		"https://cloud.example/%":             form,
		"https://:5000":                       form,
		"cloud":                               form,
		"https://u@cloud.example":             only,
		"https://cloud.example?a":             only,
		"https://cloud.example#a":             only,
		"https://cloud.example/a%2Fb":         only,
	} {
		got, err := keystone.Address(text, "v3")
		if err != nil {
			got += "! " + err.Error()
		}
		if !strings.HasPrefix(got, want) || want[0] != '!' && got != want {
			t.Errorf("Address(%s) = %s, want %s", text, got, want)
		}
	}
}
