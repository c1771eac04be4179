"""What a running server does beside answering: jobs, alerts, figures, health."""
