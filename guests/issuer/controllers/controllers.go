// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	"dormouse.dev/sdk/go/operator"
)

// Finalizer keeps an Issuer while Certificates refer to it.
const Finalizer = "issuer.dormouse.dev/in-use"

const (
	bySecret   = "bySecret" // Certificates by the Secret they are kept in
	byIssuer   = "byIssuer"
	byCASecret = "byCASecret"
)

// controllers share what they need.
type controllers struct {
	op      *operator.Operator
	client  *operator.Client
	now     func() time.Time
	issued  operator.Counter
	expires operator.Gauge
}

// New declares the operator. now is the clock.
func New(now func() time.Time) *operator.Operator {
	op := operator.New("issuer", operator.Options{Version: "0.1.0"})
	c := &controllers{
		op:      op,
		client:  op.Client(),
		now:     now,
		issued:  op.Counter("issuer_certificates_issued_total", "Certificates issued.", "namespace"),
		expires: op.Gauge("issuer_certificate_expiration_timestamp_seconds", "When a certificate ends.", "namespace", "name"),
	}
	// Whatever changes is an event, and what time changes is a requeue: nothing is left for a resync to find. Five
	// percent of two months would be three days.
	quiet := operator.ControllerOptions{Resync: -1, SlackPercent: -1}
	// Secrets that hold authorities are looked up by what refers to them: an index of the Issuers.
	op.Controller("issuers").
		For(&Issuer{}, operator.IndexField(byCASecret, ".spec.ca.secretName")).
		Watches(&Secret{}, operator.ToIndex(byCASecret, operator.ByName), operator.WithID("secrets"),
			operator.WithFields("type="+secretTypeTLS)).
		Watches(&Certificate{}, operator.ToField(".spec.issuerRef.name"), operator.WithID("users"),
			operator.WithPredicate(operator.On(operator.Delete))).
		WithOptions(quiet).
		Complete(operator.ReconcileFunc(c.reconcileIssuer))
	op.Controller("certificates").
		For(&Certificate{}, operator.WithID("certificates"), operator.WithPredicate(operator.GenerationChanged()),
			operator.IndexField(byIssuer, ".spec.issuerRef.name"), operator.IndexField(bySecret, ".spec.secretName")).
		Owns(&Secret{}, operator.WithFields("type="+secretTypeTLS)).
		Watches(&Secret{}, operator.ToIndex(bySecret, operator.ByName), operator.MetadataOnly(),
			operator.WithPredicate(operator.On(operator.Delete))). // one that was in the way
		Watches(&Issuer{}, operator.ToIndex(byIssuer, operator.ByName)).
		WithOptions(quiet).
		Complete(operator.ReconcileFunc(c.reconcileCertificate))
	return op
}
