package broker

import (
	"cmp"
	"fmt"
)

// VIMQuota bounds the VIMs of a project; zero means no bound.
type VIMQuota struct {
	// PerProject is how many VIMs one project has at most, those included that are being registered.
	PerProject int
	// Bytes is how much one VIM stores at most: names, labels, description, extra, target and credential.
	Bytes int
}

// sealedSize is about how long a credential is once it is sealed: Fernet pads to blocks, and
// encodes in base 64.
func sealedSize(c Credential) (int, error) {
	plain, err := c.Pack()
	return 4*len(plain.Reveal())/3 + 100, err
}

// sizes are the parts of what a VIM stores whose length a caller chooses.
func sizes(v VIM, credential int) map[string]int {
	labels := 0
	for k, text := range v.Labels {
		labels += len(k) + len(text)
	}
	shares := 0
	for _, project := range v.SharedWith {
		shares += len(project)
	}
	t := v.Current.Target
	return map[string]int{
		"labels": labels, "description": len(v.Description), "extra": len(v.Extra), "caCert": len(t.CACert), "credential": credential,
		"sharedWith": shares, "name": len(v.Name), "endpoint": len(t.Endpoint) + len(t.ServerName) + len(t.Namespace),
	}
}

// fits refuses a VIM that stores more than it may, unless it stores less than before: a bound that
// was lowered keeps no VIM from becoming smaller. Both are given with the sizes of their sealed
// credentials; the VIM before is empty where there is none.
func (q VIMQuota) fits(before VIM, was int, after VIM, credential int) error {
	total := func(parts map[string]int) (n int) {
		for _, size := range parts {
			n += size
		}
		return n
	}
	parts := sizes(after, credential)
	n := total(parts)
	if q.Bytes == 0 || n <= q.Bytes || before.ID != "" && n <= total(sizes(before, was)) {
		return nil
	}
	var largest string
	for field, size := range parts {
		if c := cmp.Compare(size, parts[largest]); largest == "" || c > 0 || c == 0 && field < largest {
			largest = field
		}
	}
	return &Error{
		Kind: ErrQuota, Field: largest,
		Detail: fmt.Sprintf("the VIM would store %d KiB, %d of them here, and may store %d", kibibytes(n),
			kibibytes(parts[largest]), kibibytes(q.Bytes)),
		Remedy: "make it shorter",
	}
}

func kibibytes(n int) int { return (n + 1023) >> 10 }
