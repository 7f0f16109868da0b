"""Every function of numpy on decided arrays is numpy's own, or refused: compared with floats, one expression at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.author_code.decided_arrays import decided_array
from eigentoken.numerics.author_code.decided_numbers import REFUSALS, DecidedNumber, NotDecided, enclosure

INTEGERS = np.array([[2, -1, 3, 0], [1, 2, -2, 3], [-3, 1, 1, 2]])

RIGHT = [
    "np.sum(a)",
    "np.sum(a,axis=1,keepdims=True)",
    "a.sum(0)",
    "a.prod(1)",
    "np.max(a)",
    "a.max(0)",
    "np.min(a,axis=1)",
    "np.mean(a)",
    "a.mean(axis=0)",
    "np.var(a,axis=1)",
    "a.std()",
    "np.std(a,axis=0,ddof=1)",
    "np.cumsum(a,axis=1)",
    "np.cumsum(a)",
    "np.diff(a)",
    "np.sort(a)",
    "np.sort(a,axis=0)",
    "np.argmax(a[:, :1]*7+a[:,1:2])",
    "np.where(a>0,a,0)",
    "abs(a)",
    "np.clip(a,-1,2)",
    "a.clip(0)",
    "np.sign(a)",
    "np.linalg.norm(a)",
    "np.linalg.norm(a,axis=1)",
    "np.linalg.norm(a,2)",
    "np.linalg.norm(a,'nuc')",
    "np.linalg.det(a[:,:3])",
    "np.trace(a)",
    "np.outer(a[0],a[1])",
    "np.einsum('ij,kj->ik',a,a)",
    "np.einsum('ij,ij',a,a)",
    "np.dot(a,a.T)",
    "a@a.T",
    "a.T@a",
    "np.tensordot(a,a,axes=([1],[1]))",
    "np.kron(a,a)",
    "np.roll(a,1,axis=0)",
    "np.allclose(a,a)",
    "np.isclose(a,1)",
    "(a>0).any()",
    "np.all(a<9)",
    "np.triu(a)",
    "np.tril(a,-1)",
    "np.diag(a[:,:3])",
    "np.diag(a[0])",
    "np.eye(3)@a",
    "a[a>0]",
    "a[[0,2]][:, [1,1]]",
    "a**2",
    "(a*a+1)**-1",
    "(a*a+1)**0.5",
    "(a*a+1)**(1/3)",
    "a//2",
    "a%3",
    "np.floor(a/2)",
    "np.round(a/4)",
    "np.maximum(a,0)",
    "np.minimum(a,a.T[:3,:3].sum())",
    "np.median(a,axis=1)",
    "np.ptp(a)",
    "np.average(a,axis=0)",
    "np.count_nonzero(a)",
    "np.nonzero(a)",
    "np.concatenate([a,a])",
    "np.vstack([a,np.ones(4)])",
    "np.stack([a,a]).sum(axis=(1,2))",
    "a.T.dot(a)",
    "a.max(axis=1,keepdims=True)-a",
    "np.exp(a).sum(axis=1)",
    "np.log(a*a+1)",
    "np.sqrt(a*a)",
    "np.linalg.matrix_rank(a)",
    "np.linalg.svd(a,compute_uv=False)",
    "np.max(a,axis=(0,1))",
    "a.mean(axis=(0,1))",
    "np.maximum.reduce(a)",
    "np.add.reduce(a,axis=1)",
    "np.cumprod(a,0)",
    "np.add.outer(a[0],a[1])",
    "np.subtract.outer(a[0],a[1])",
    "a[:,None,:]-a[None,:,:]",
    "np.linalg.norm(a[:,None,:]-a[None,:,:],axis=-1)",
    "np.linalg.norm(a[:,None,:]-a[None,:,:],axis=2).max()",
    "-a",
    "+a",
    "2-a",
    "2/(a*a+1)",
    "np.hypot(a,1)",
    "np.arctan2(a,3)",
    "np.isfinite(a).all()",
    "np.flip(a,0)",
    "a.ravel()",
    "a.T.reshape(2,6)",
    "np.take(a,[0,1],axis=1)",
    "np.delete(a,0,axis=0)",
    "np.cross(a[0,:3],a[1,:3])",
    "np.inner(a,a)",
    "np.vdot(a,a)",
    "np.linalg.matrix_power(a[:,:3],3)",
    "np.linalg.multi_dot([a,a.T,a])",
    "np.square(a)",
    "np.log2(a*a+1)",
    "np.power(2.0,a)",
    "2**a",
    "np.float64(2)*a",
    "np.float64(2)*a[0,0]",
    "np.float64(2)<a[0,0]",
    "a[0,0]<np.float64(2)",
    "np.sum(a,axis=None)",
    "np.mean(a>0)",
    "np.sum(a>0,axis=0)",
    "np.atleast_2d(a[0])",
    "np.tile(a,(2,1))",
    "np.insert(a,0,5,axis=0)",
    "np.expand_dims(a,0).shape",
    "np.squeeze(a[:1])",
    "np.broadcast_to(a,(2,3,4))",
    "sum(a)",
    "max(a[0])",
    "sorted(a[:,0])",
    "np.logical_and(a>0,a<2)",
    "(a>0)&(a<2)",
    "~(a>0)",
    "np.array_equal(a,a)",
    "np.zeros_like(a)",
    "np.ones_like(a)",
    "np.full_like(a,2)",
    "np.argmin(a[0]*5+np.arange(4))",
    "np.argsort(a[1]*7+np.arange(4))",
    "np.convolve(a[0],a[1])",
    "np.apply_along_axis(lambda r: r.sum(),1,a)",
    "np.degrees(a)",
    "np.meshgrid(a[0],a[1])",
    "np.linalg.eigvalsh(a@a.T)",
    "np.linalg.inv(a[:,:3]@a[:,:3].T+np.eye(3))",
    "np.linalg.solve(a[:,:3]@a[:,:3].T+np.eye(3),a)",
    "np.select([a>0],[a],0)",
    "np.append(a,a)",
    "a.trace()",
    "a.cumsum(axis=0)",
    "a.flatten()",
    "a.diagonal()",
    "a.repeat(2,axis=0)",
    "a.argmax(axis=1)[0]",
    "a.all()",
    "a.any(axis=0)",
    "a.nonzero()",
    "a.tolist()",
    "a.min()",
    "a.round()",
    "a.transpose(1,0)",
    "a.swapaxes(0,1)",
    "a.squeeze()",
    "a.conj()",
    "a.real",
    "a.imag",
    "np.maximum(a,1.5)",
    "np.cumsum(np.sort(a,axis=1)[:, ::-1],axis=1)",
    "np.trace(a,offset=1)",
    "np.einsum('ij->j',a)",
    "np.einsum('ii',a[:,:3])",
    "np.prod(a,axis=(0,1))",
    "np.linalg.norm(a,1)",
    "np.linalg.norm(a,np.inf)",
    "np.linalg.norm(a[0],np.inf)",
    "np.linalg.norm(a,'fro')",
    "np.linalg.norm(a,axis=(0,1))",
    "np.abs(a).sum()",
    "np.linalg.eigvals(np.diag(a[0]*7))",
    "np.sinh(a)",
    "np.tanh(a)",
    "np.arccos(a / 9)",
    "np.arctan(a)",
    "np.exp(-a)",
    "np.log1p(a*a)",
    "np.expm1(a)",
    "np.block([[a,a]])",
    "np.ediff1d(a)",
    "np.asarray(a)+0",
    "np.array(a)*2",
    "np.triu_indices_from(a)",
    "a[np.triu_indices(3)]",
    "a[np.ix_([0,1],[1,2])]",
    "np.any(a>0,axis=1)",
    "np.all(a)",
    "np.any(a)",
    "np.amax(a)",
    "np.cumsum(a[0])/np.arange(1,5)",
    "np.arange(4)*a",
    "np.arange(4)/3*a",
]
REFUSED = [
    "np.cbrt(a)",
    "np.heaviside(a,0)",
    "np.nanmax(a)",
    "np.quantile(a,0.5)",
    "np.cov(a)",
    "np.corrcoef(a)",
    "np.unique(a)",
    "np.gradient(a[0])",
    "np.trapezoid(a[0])",
    "np.interp(1,a[0],a[1])",
    "np.histogram(a)",
    "np.fft.fft(a)",
    "np.linalg.cond(a[:,:3])",
    "np.linalg.pinv(a)",
    "np.fmod(a,2)",
    "np.linalg.slogdet(a[:,:3])",
    "np.searchsorted(a[0],1)",
    "np.nansum(a)",
    "np.array2string(a)",
    "np.divmod(a,2)",
    "np.pad(a,1)",
    "np.array(a,dtype=float)",
    "np.linalg.eigh(a@a.T)",
    "np.max(a,initial=5)",
    "np.isin(a,[1])",
    "np.lexsort(a)",
    "np.iscomplexobj(a)",
    "np.isrealobj(a)",
    "np.isreal(a)",
    "np.bincount(a[0])",
    "np.float64(a[0,0])",
    "np.linalg.eig(a[:,:3])",
    "np.linalg.cholesky(a@a.T)",
    "np.linalg.qr(a)",
    "np.linalg.svd(a)",
    "np.spacing(a)",
    "np.nextafter(a,1)",
    "np.frexp(a)",
    "np.copysign(a,1)",
    "a.searchsorted(1)",
    "a.partition(1)",
    "a.tobytes()",
    "np.save('/dev/null',a)",
    "np.add.at(a,0,1)",
    "np.sum(a,dtype=float)",
    "np.array_str(a)",
    "np.polyfit(a[0],a[1],1)",
    "np.roots(a[0])",
    "np.packbits(a)",
    "np.nanmean(a)",
]


def near(found: Any) -> Any:
    """Decided numbers as the floats next to them."""
    if isinstance(found, DecidedNumber):
        return float(enclosure(found).mid())
    if isinstance(found, tuple | list):
        return [near(each) for each in found]
    if isinstance(found, np.ndarray) and found.dtype == object:
        return np.array([near(each) for each in found.reshape(-1)]).reshape(found.shape)
    return found


@pytest.mark.parametrize("scale", [1, 2], ids=["rational", "irrational"])
@pytest.mark.parametrize("text", RIGHT)
def test_a_function_of_numpy_is_numpys(text: str, scale: int) -> None:
    """The values and the shape are those of floats; irrational entries may be refused, never differ."""
    exact: Any = decided_array(INTEGERS)
    floats: Any = INTEGERS.astype(float)
    if scale == 2:
        exact, floats = exact * decided_array(np.array([2]))[0].sqrt(), floats * np.sqrt(2)
    expected = eval(text, {"np": np, "a": floats})
    try:
        found = near(eval(text, {"np": np, "a": exact}))
    except NotDecided:
        assert scale == 2
        return
    assert np.shape(found) == np.shape(expected)
    assert np.allclose(np.array(found, dtype=float), np.array(expected, dtype=float))


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_certified_version_is_refused(text: str) -> None:
    before = len(REFUSALS)
    with pytest.raises(NotDecided):
        eval(text, {"np": np, "a": decided_array(INTEGERS)})
    assert len(REFUSALS) > before


def test_writing_into_arrays() -> None:
    """In place, as numpy; exact numbers do not go into arrays of floats."""
    a = decided_array(INTEGERS)
    a += 1
    a[0] *= 2
    a[1, 1] = 7
    assert near(a).tolist() == [[6, 0, 8, 2], [2, 7, -1, 4], [-2, 2, 2, 3]]
    np.fill_diagonal(a, 0)
    assert near(a)[1, 1] == 0
    a.sort(axis=1)
    assert near(a)[0].tolist() == [0, 0, 2, 8]
    floats = np.ones((3, 4))
    with pytest.raises(NotDecided):
        floats += a
    with pytest.raises(NotDecided):
        floats[0, 0] = a[0, 3] / 3
