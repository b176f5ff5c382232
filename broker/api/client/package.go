package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
)

// packageVersion is the version of ETSI's package management that is spoken.
const packageVersion = "2.1.0"

// uploadTime bounds the transfer of a package whose context has no deadline.
const uploadTime = time.Hour

// Package is a VNF package (VnfPkgInfo of ETSI GS NFV-SOL 003), with this server's additions.
type Package struct {
	ID               string          `json:"id"`
	VNFDID           string          `json:"vnfdId,omitempty"`
	Provider         string          `json:"vnfProvider,omitempty"`
	ProductName      string          `json:"vnfProductName,omitempty"`
	SoftwareVersion  string          `json:"vnfSoftwareVersion,omitempty"`
	VNFDVersion      string          `json:"vnfdVersion,omitempty"`
	OnboardingState  string          `json:"onboardingState"`
	OperationalState string          `json:"operationalState"`
	UsageState       string          `json:"usageState"`
	UserDefinedData  json.RawMessage `json:"userDefinedData,omitempty"`
	Artifacts        []Artifact      `json:"additionalArtifacts,omitempty"`
	Own              PackageFacts    `json:"vimbroker"`
}

// Artifact is a file that a package declares.
type Artifact struct {
	Path     string `json:"artifactPath"`
	Checksum string `json:"checksum"`
}

// PackageFacts are the facts that the standard has no attribute for. Size is in bytes.
type PackageFacts struct {
	Project     string    `json:"project"`
	Size        int64     `json:"size,omitempty"`
	SHA256      string    `json:"sha256,omitempty"`
	Signer      string    `json:"signer,omitempty"`
	Warnings    []string  `json:"warnings,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	OnboardedAt time.Time `json:"onboardedAt,omitzero"`
}

// packages is a request about packages; the path follows /vnfpkgm/v2/vnf_packages.
func packages(method string, body any, path ...string) request {
	return request{
		method: method, path: append([]string{"vnfpkgm", "v2", "vnf_packages"}, path...), body: body,
		header: http.Header{"Version": {packageVersion}},
	}
}

// CreatePackage makes a package without content. userData may be nil.
func (c *Client) CreatePackage(ctx context.Context, userData map[string]string) (Package, error) {
	in := struct {
		UserDefinedData map[string]string `json:"userDefinedData,omitempty"`
	}{userData}
	return fetch[Package](ctx, c, packages(http.MethodPost, in))
}

// UploadPackage sends the content of a package, of that size, and returns when it is onboarded.
func (c *Client) UploadPackage(ctx context.Context, id string, content io.Reader, size int64) error {
	ctx, cancel := within(ctx, uploadTime)
	defer cancel()
	q := packages(http.MethodPut, nil, id, "package_content")
	q.stream, q.size = content, size
	return c.tell(ctx, q)
}

// UploadPackageFrom has the server fetch the content of a package, and returns when it is onboarded.
func (c *Client) UploadPackageFrom(ctx context.Context, id string, r sol003.UploadFromRequest) error {
	ctx, cancel := within(ctx, uploadTime)
	defer cancel()
	return c.tell(ctx, packages(http.MethodPost, r, id, "package_content", "upload_from_uri"))
}

// Package returns one, by its id.
func (c *Client) Package(ctx context.Context, id string) (Package, error) {
	return fetch[Package](ctx, c, packages(http.MethodGet, nil, id))
}

// EnablePackage makes a package one that VNF instances can be made from, or none.
func (c *Client) EnablePackage(ctx context.Context, id string, on bool) error {
	state := "DISABLED"
	if on {
		state = "ENABLED"
	}
	return c.tell(ctx, packages(http.MethodPatch, map[string]string{"operationalState": state}, id))
}

// DeletePackage deletes a package that is disabled and not in use.
func (c *Client) DeletePackage(ctx context.Context, id string) error {
	return c.tell(ctx, packages(http.MethodDelete, nil, id))
}

// DownloadPackage writes the content of a package, and returns how many bytes it has.
func (c *Client) DownloadPackage(ctx context.Context, id string, to io.Writer) (int64, error) {
	ctx, cancel := within(ctx, uploadTime)
	defer cancel()
	answer, err := c.send(ctx, packages(http.MethodGet, nil, id, "package_content"))
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(to, answer.Body)
	if err != nil { // also where it ends before its length
		return n, fmt.Errorf("downloading the package from %s: %w", c.base.Host, err)
	}
	return n, nil
}

// AllPackages walks every page of the packages that the caller may see, oldest first.
func (c *Client) AllPackages(ctx context.Context) iter.Seq2[Package, error] {
	return walkLinks[Package](ctx, c, packages(http.MethodGet, nil))
}

// sized is a body of known length, which is sent only when the server wants it.
func sized(r *http.Request, size int64) {
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/zip")
	r.Header.Set("Expect", "100-continue")
}
