package store

import "github.com/holdshort/holdshort"

// DeliveryReader reads the outbox.
type DeliveryReader interface {
	Delivery(holdshort.DeliveryID) (holdshort.Delivery, error)
	// PendingDeliveries gives those of a session that are neither sent, dead nor dropped, in their order.
	PendingDeliveries(holdshort.SessionID) ([]holdshort.Delivery, error)
}

// DeliveryWriter writes it. Keys are unique.
type DeliveryWriter interface {
	PutDelivery(holdshort.Delivery) error
}
