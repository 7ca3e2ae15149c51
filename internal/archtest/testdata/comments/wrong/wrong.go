// This is the package for wrong things and it says so.
package wrong // want `begins "Package wrong"`
