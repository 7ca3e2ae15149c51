package slack

import (
	"github.com/holdshort/holdshort/channel/email" // want `calls go down the picture only`
	"github.com/holdshort/holdshort/chat"
	"github.com/holdshort/holdshort/store" // want `calls go down the picture only`
)
