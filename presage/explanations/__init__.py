"""Why an answer holds, what it waits for, or what failed: proofs and open ways, laid out for people and as JSON."""
