package network

import (
	"fmt"
	"net/http"
	"net/url"
)

// Origins refuses what other sites' pages send. People may know the server by another address than the one it hears, behind a proxy: that one
// counts too.
func Origins(publicURL string) (*http.CrossOriginProtection, error) {
	c := http.NewCrossOriginProtection()
	if publicURL == "" {
		return c, nil
	}
	u, err := url.Parse(publicURL)
	if err == nil {
		err = c.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	if err != nil {
		return nil, fmt.Errorf("public address %q: %w", publicURL, err)
	}
	return c, nil
}
