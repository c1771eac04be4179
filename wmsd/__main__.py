"""The entry point of `python -m wmsd`."""

from wmsd.interfaces.cli.main import main

if __name__ == "__main__":
    main()
