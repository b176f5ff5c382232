package secret_test

import (
	"fmt"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// A credential is sealed for one field of one generation of one VIM, and opens
// for nothing else.
func Example() {
	key, err := secret.NewKey() // kept in a KeyStore
	if err != nil {
		fmt.Println(err)
		return
	}
	owner := secret.Owner{ID: "0b8a1d5e-5a3f-4f83-9a36-1d5f5f0f7c11", Generation: 1}
	token := secret.NewText("a bearer token")

	sealed, err := secret.Seal(key, owner, "token", token) // kept in the database
	if err != nil {
		fmt.Println(err)
		return
	}
	opened, err := secret.Open(key, owner, "token", sealed)
	fmt.Println(opened, opened.Equal(token), err)

	owner.Generation++
	_, err = secret.Open(key, owner, "token", sealed)
	fmt.Println(err)
	// Output:
	// [secret] true <nil>
	// sealed value does not open
}
