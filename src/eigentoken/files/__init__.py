"""The ground under all rooms: files are written whole or not at all, and read without believing their sizes.

Every room may import this package; it imports none of them.  ``writing`` replaces a file in one step, ``documents`` reads JSON,
``arrays`` reads the headers of array files, ``installed`` says where packages are and results are kept.
"""
