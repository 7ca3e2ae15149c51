package webhook

import (
	"net/netip"
	"testing"
)

// Every way to write an address inside, in the forms that translate.
func TestTranslatedAddresses(t *testing.T) {
	for _, text := range []string{"::ffff:0:127.0.0.1", "::ffff:0:169.254.169.254", "::ffff:0:10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "::7f00:1"} {
		if (guard{}).permits(netip.MustParseAddr(text)) {
			t.Errorf("%s is let through", text)
		}
	}
}
