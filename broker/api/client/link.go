package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// CreateVirtualLink makes a virtual link, or answers the one that is there already.
func (c *Client) CreateVirtualLink(ctx context.Context, r v1.VirtualLinkRequest) (v1.VirtualLink, error) {
	return fetch[v1.VirtualLink](ctx, c, rest(http.MethodPost, r, "virtual-links"))
}

// VirtualLink returns one by its id or name, with its uses.
func (c *Client) VirtualLink(ctx context.Context, idOrName string) (v1.VirtualLink, error) {
	return fetch[v1.VirtualLink](ctx, c, rest(http.MethodGet, nil, "virtual-links", idOrName))
}

// AllVirtualLinks walks every page, the newest first. It stops at the first error.
func (c *Client) AllVirtualLinks(ctx context.Context) iter.Seq2[v1.VirtualLink, error] {
	return walk[v1.VirtualLink](ctx, c, rest(http.MethodGet, nil, "virtual-links"))
}

// DeleteVirtualLink removes one; with force also one that is used: the uses that it had are answered.
func (c *Client) DeleteVirtualLink(ctx context.Context, idOrName string, force bool) (v v1.VirtualLink, err error) {
	_, err = c.do(ctx, rest(http.MethodDelete, nil, "virtual-links", idOrName).where(url.Values{"force": {strconv.FormatBool(force)}}), &v)
	return v, err
}

// CreateVolume makes a volume, or answers the one that is there already.
func (c *Client) CreateVolume(ctx context.Context, r v1.VolumeRequest) (v1.Volume, error) {
	return fetch[v1.Volume](ctx, c, rest(http.MethodPost, r, "volumes"))
}

// Volume returns one by its id or name, with its uses.
func (c *Client) Volume(ctx context.Context, idOrName string) (v1.Volume, error) {
	return fetch[v1.Volume](ctx, c, rest(http.MethodGet, nil, "volumes", idOrName))
}

// AllVolumes walks every page, the newest first. It stops at the first error.
func (c *Client) AllVolumes(ctx context.Context) iter.Seq2[v1.Volume, error] {
	return walk[v1.Volume](ctx, c, rest(http.MethodGet, nil, "volumes"))
}

// DeleteVolume removes one; with force also one that is used: the uses that it had are answered.
func (c *Client) DeleteVolume(ctx context.Context, idOrName string, force bool) (v v1.Volume, err error) {
	_, err = c.do(ctx, rest(http.MethodDelete, nil, "volumes", idOrName).where(url.Values{"force": {strconv.FormatBool(force)}}), &v)
	return v, err
}
