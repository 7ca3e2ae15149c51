package client

import (
	"context"
	"net/http"

	"github.com/holdshort/holdshort"
)

// NewKeyInput says what an API key is for.
type NewKeyInput struct {
	Name      string   `json:"name"`
	User      string   `json:"user,omitempty"` // whose personal key it is; none: a service's
	Roles     []string `json:"roles,omitempty"`
	Scopes    []string `json:"scopes,omitempty"`
	ExpiresIn string   `json:"expires_in,omitempty"` // "720h"; none: never
}

// NewKeyOutput is a key with its secret, which is shown this once.
type NewKeyOutput struct {
	holdshort.Key
	Secret string `json:"secret"`
}

// CreateKey makes an API key.
func (c *Client) CreateKey(ctx context.Context, in NewKeyInput) (out NewKeyOutput, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/keys", body: in, unsafe: true}, &out)
	return out, err
}

// Keys lists the API keys, without their secrets.
func (c *Client) Keys(ctx context.Context) ([]holdshort.Key, error) {
	var p page[holdshort.Key]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/keys"}, &p)
	return p.Items, err
}

// RevokeKey ends an API key.
func (c *Client) RevokeKey(ctx context.Context, key holdshort.KeyID) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/keys/" + id(key)}, nil)
	return err
}

// Me is who the caller is to the server.
type Me struct {
	Tenant holdshort.TenantID `json:"tenant"`
	Actor  holdshort.Actor    `json:"actor"`
	Scopes []string           `json:"scopes,omitempty"`
}

// Me says who the caller is.
func (c *Client) Me(ctx context.Context) (out Me, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/me"}, &out)
	return out, err
}
